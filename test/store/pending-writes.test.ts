// Writes that fail: a real SQLite file that another connection keeps locked, or a trigger that rejects single rows.

import Database from 'libsql';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { type Engine, OutcomeUnknown } from '../../src/store/engine.ts';
import { createStore } from '../../src/store/store.ts';
import { sqliteDatabase } from './databases.ts';
import { DELIVERED, FAILED, HOUR, World } from './world.ts';

/** How often a write is tried before it is given up. */
const MAX_FAILURES = 10;

let world: World;
beforeEach(async () => {
  world = await World.begin(sqliteDatabase({ lockTimeoutMs: 20 }));
});
afterEach(async () => await world.database.remove());

/** Runs the work while another connection holds the write lock, so that this one finds the database unavailable. */
async function whileUnavailable(work: () => Promise<void>): Promise<void> {
  const other = new Database(world.database.place);
  other.exec('begin immediate');
  try {
    await work();
  } finally {
    other.exec('rollback');
    other.close();
  }
}

async function rejectChangesOf(renderId: string): Promise<void> {
  await world.engine.run(
    `create trigger reject before update on holds when new.id = '${renderId}'
     begin select raise(abort, 'rejected by a trigger'); end`,
  );
}

async function stateOf(renderId: string): Promise<unknown> {
  return (await world.engine.all('select state from holds where id = :renderId', { renderId }))[0]?.['state'];
}

/** Reserves holds with these ids, in this order. */
async function reserve(...renderIds: string[]): Promise<string> {
  const id = await world.account();
  for (const renderId of renderIds) await world.store.ledger.reserve(await world.hold(id, { renderId }));
  return id;
}

describe('pending writes of the ledger', () => {
  it('pending writes are made when the database is available again, each once', async () => {
    const id = await reserve('delivered', 'failed');
    const { ledger, pendingWrites } = world.store;
    await whileUnavailable(async () => {
      await expect(ledger.settle('delivered', DELIVERED)).rejects.toMatchObject({ code: 'storage_unavailable' });
      await expect(ledger.release('failed', FAILED)).rejects.toMatchObject({ code: 'storage_unavailable' });
      expect(await pendingWrites.retry()).toEqual([]);
    });
    expect(pendingWrites.list()).toHaveLength(2);
    await pendingWrites.retry();
    expect(pendingWrites.list()).toEqual([]);
    expect(await world.balance(id)).toEqual({ used: 1, reserved: 0 });
  });

  it('pending writes are made even when the one before them fails with an unexpected error', async () => {
    await reserve('broken', 'good');
    const { ledger, pendingWrites } = world.store;
    await whileUnavailable(async () => {
      for (const renderId of ['broken', 'good'])
        await expect(ledger.settle(renderId, DELIVERED)).rejects.toMatchObject({ code: 'storage_unavailable' });
    });
    await rejectChangesOf('broken');
    expect(await pendingWrites.retry()).toEqual([]);
    expect([await stateOf('broken'), await stateOf('good')]).toEqual(['reserved', 'settled']);
    // The write isn't lost: it succeeds once its cause is gone.
    await world.engine.run('drop trigger reject');
    await pendingWrites.retry();
    expect(await stateOf('broken')).toBe('settled');
  });

  it('pending writes are given up with their ids after ten failures with an unexpected error', async () => {
    await reserve('broken');
    const { ledger, pendingWrites } = world.store;
    await rejectChangesOf('broken');
    await expect(ledger.settle('broken', DELIVERED)).rejects.toThrow('rejected by a trigger');
    for (let attempt = 1; attempt < MAX_FAILURES; attempt += 1) expect(await pendingWrites.retry()).toEqual([]);
    expect(await pendingWrites.retry()).toMatchObject([
      { write: { kind: 'settle', renderId: 'broken' }, error: { message: 'rejected by a trigger' } },
    ]);
    expect(pendingWrites.list()).toEqual([]);
  });

  it('pending writes are never given up because the database is unavailable', async () => {
    await reserve('delivered');
    const { ledger, pendingWrites } = world.store;
    await whileUnavailable(async () => {
      await expect(ledger.settle('delivered', DELIVERED)).rejects.toMatchObject({ code: 'storage_unavailable' });
      for (let attempt = 0; attempt < 2 * MAX_FAILURES; attempt += 1) expect(await pendingWrites.retry()).toEqual([]);
    });
    await pendingWrites.retry();
    expect(await stateOf('delivered')).toBe('settled');
  });

  it('pending writes do not keep a sweep from releasing the other holds of a dead server', async () => {
    const id = await world.account();
    const dead = await world.server('there/9/x');
    for (const renderId of ['broken', 'good']) await dead.ledger.reserve(await world.hold(id, { renderId }));
    await rejectChangesOf('broken');
    world.pass(HOUR);
    expect(await world.store.ledger.sweep()).toEqual(['good']);
    expect(await stateOf('good')).toBe('released');
    expect(world.store.pendingWrites.list()).toEqual([{ kind: 'release', renderId: 'broken' }]);
  });
});

describe('an idempotency key whose render fails while the database is unavailable', () => {
  it('an idempotency key is free again with the next retry, and abandoning it reports no error of its own', async () => {
    const id = await world.account();
    const { idempotency, pendingWrites } = world.store;
    await idempotency.claim(id, 'key', { fingerprint: 'fingerprint' }, 'first');
    await whileUnavailable(async () => {
      await expect(idempotency.abandon(id, 'key', 'first')).resolves.toBeUndefined();
    });
    expect(pendingWrites.list()).toEqual([{ kind: 'abandon', renderId: 'first' }]);
    expect(await idempotency.claim(id, 'key', { fingerprint: 'fingerprint' }, 'second')).toEqual({ kind: 'in flight' });
    await pendingWrites.retry();
    expect(await idempotency.claim(id, 'key', { fingerprint: 'fingerprint' }, 'third')).toEqual({ kind: 'new' });
  });

  it('an idempotency key is free again with the next retry when its claim was committed without an acknowledgment', async () => {
    const id = await world.account();
    const { idempotency, pendingWrites } = createStore(losingAcknowledgments(world.engine), world.clock, 'there/1/x');
    await expect(idempotency.claim(id, 'key', { fingerprint: 'fingerprint' }, 'first')).rejects.toThrow(OutcomeUnknown);
    expect(await idempotency.claim(id, 'key', { fingerprint: 'fingerprint' }, 'second').catch(() => 'failed')).toBe(
      'failed',
    );
    await pendingWrites.retry();
    expect(await world.store.idempotency.claim(id, 'key', { fingerprint: 'fingerprint' }, 'third')).toEqual({
      kind: 'new',
    });
  });
});

/** An engine whose connection breaks after each commit of a transaction. */
function losingAcknowledgments(engine: Engine): Engine {
  return {
    dialect: engine.dialect,
    all: async (sql, parameters) => await engine.all(sql, parameters),
    run: async (sql, parameters) => await engine.run(sql, parameters),
    transaction: async (work) => {
      await engine.transaction(work);
      throw new OutcomeUnknown(new Error('connection reset'));
    },
    close: async () => await engine.close(),
  };
}
