// Writes that fail: a real SQLite file that another connection keeps locked, or a trigger that rejects single rows.

import Database from 'libsql';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { OutcomeUnknown } from '../../src/service/store/engine.ts';
import { AppError } from '../../src/shared/errors.ts';
import { PendingWrites } from '../../src/service/store/ledger/pending-writes.ts';
import { createStore } from '../../src/service/store/store.ts';
import { sqliteDatabase } from './databases.ts';
import { losingAcknowledgments } from './losing-acknowledgments.ts';
import { renderSetup } from './render-setup.ts';
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

  it('pending writes of a render are its latest one to the ledger, and one to its idempotency key', async () => {
    const id = await reserve('r');
    const { ledger, idempotency, pendingWrites } = world.store;
    await idempotency.claim(id, 'key', { fingerprint: 'fingerprint' }, 'r');
    await whileUnavailable(async () => {
      await expect(ledger.settle('r', DELIVERED)).rejects.toMatchObject({ code: 'storage_unavailable' });
      await expect(ledger.release('r', FAILED)).rejects.toMatchObject({ code: 'storage_unavailable' });
      await idempotency.abandon(id, 'key', 'r');
    });
    expect(pendingWrites.list()).toEqual([
      { kind: 'release', renderId: 'r' },
      { kind: 'abandon', renderId: 'r' },
    ]);
  });

  it('pending writes include the end of a delivery that broke while the database was unavailable', async () => {
    const id = await reserve('r');
    const { ledger, pendingWrites } = world.store;
    await whileUnavailable(async () => {
      await expect(ledger.breakOff('r', 5)).rejects.toMatchObject({ code: 'storage_unavailable' });
    });
    expect(pendingWrites.list()).toEqual([{ kind: 'release', renderId: 'r' }]);
    await pendingWrites.retry();
    expect(await world.balance(id)).toEqual({ used: 0, reserved: 0 });
  });

  it('pending writes wait for the next retry after one that found the database unavailable', async () => {
    const pendingWrites = new PendingWrites();
    const tried: string[] = [];
    for (const renderId of ['first', 'second', 'third']) {
      pendingWrites.add({ kind: 'settle', renderId }, async () => {
        tried.push(renderId);
        throw new AppError('storage_unavailable', 'the database is unavailable');
      });
    }
    await pendingWrites.retry();
    expect(tried).toEqual(['first']);
    await pendingWrites.retry();
    expect(tried).toEqual(['first', 'second']);
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

describe('a reservation whose commit was not acknowledged', () => {
  const ALIVE = 'there/1/x';

  it('a reservation without an acknowledgment is released with the next retry, because its caller does not render', async () => {
    const id = await world.account();
    const { ledger, pendingWrites } = createStore(losingAcknowledgments(world.engine), world.clock, ALIVE);
    await expect(ledger.reserve(await world.hold(id, { renderId: 'r', credits: 3 }))).rejects.toThrow(OutcomeUnknown);
    expect(await world.balance(id)).toEqual({ used: 0, reserved: 3 });
    expect(pendingWrites.list()).toEqual([{ kind: 'release', renderId: 'r' }]);
    // The engine of this server loses every acknowledgment, so the write is made and stays pending.
    await pendingWrites.retry();
    expect(await stateOf('r')).toBe('released');
    expect(await world.balance(id)).toEqual({ used: 0, reserved: 0 });
    const [hold] = await world.store.usage.latest(id, 1);
    expect(hold).toMatchObject({ outcome: 'storage_unavailable' });
  });

  it('a reservation of a stored render without an acknowledgment is kept for its next attempt', async () => {
    const id = await world.account();
    const { accepted, claimed, reserve: reserveAttempt } = renderSetup(() => world);
    await accepted(id);
    const store = createStore(losingAcknowledgments(world.engine), world.clock, ALIVE);
    await expect(reserveAttempt(await claimed(), store)).rejects.toThrow(OutcomeUnknown);
    expect(store.pendingWrites.list()).toEqual([]);
    expect(await world.balance(id)).toEqual({ used: 0, reserved: 3 });
  });

  it('a reservation without an acknowledgment keeps its credits when it is repeated successfully', async () => {
    const id = await world.account();
    const engine = losingAcknowledgments(world.engine, 1);
    const { ledger, pendingWrites } = createStore(engine, world.clock, ALIVE);
    const hold = await world.hold(id, { renderId: 'r', credits: 3 });
    await expect(ledger.reserve(hold)).rejects.toThrow(OutcomeUnknown);
    expect(await ledger.reserve(hold)).toMatchObject({ granted: true });
    expect(pendingWrites.list()).toEqual([]);
    expect(await world.balance(id)).toEqual({ used: 0, reserved: 3 });
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
