import { expect, it } from 'vitest';
import { DAY, DELIVERED, FAILED, HOUR, type World } from './world.ts';
import { insertRow } from '../../src/service/store/engine.ts';

export function idempotencyContract(world: () => World): void {
  it('grants one claim, reports others as in flight and a different request as a mismatch', async () => {
    const { idempotency } = world().store;
    const id = await world().account();
    expect(await idempotency.claim(id, 'k', { fingerprint: 'fp' }, 'r1')).toEqual({ kind: 'new' });
    expect(await idempotency.claim(id, 'k', { fingerprint: 'fp' }, 'r2')).toEqual({ kind: 'in flight' });
    expect(await idempotency.claim(id, 'k', { fingerprint: 'other' }, 'r3')).toEqual({ kind: 'mismatch' });
    // Other accounts and other keys are independent.
    expect(await idempotency.claim(await world().account(), 'k', { fingerprint: 'other' }, 'r4')).toEqual({
      kind: 'new',
    });
    expect(await idempotency.claim(id, 'k2', { fingerprint: 'other' }, 'r5')).toEqual({ kind: 'new' });
  });

  it('grants exactly one of many concurrent claims', async () => {
    const id = await world().account();
    const servers = await Promise.all([1, 2, 3].map(async (n) => await world().server(`there/${n}`)));
    const claims = await Promise.all(
      Array.from(
        { length: 30 },
        async (_, index) => await servers[index % 3]?.idempotency.claim(id, 'k', { fingerprint: 'fp' }, `r${index}`),
      ),
    );
    expect(claims.filter((claim) => claim?.kind === 'new')).toHaveLength(1);
    expect(claims.filter((claim) => claim?.kind === 'in flight')).toHaveLength(29);
  });

  it('completes a key with the settlement, and returns its facts for 24 hours', async () => {
    const { idempotency, ledger } = world().store;
    const id = await world().account();
    const hold = await world().hold(id);
    await idempotency.claim(id, 'k', { fingerprint: 'fp' }, hold.renderId);
    await ledger.reserve(hold);
    await ledger.settle(hold.renderId, DELIVERED, { accountId: id, key: 'k', facts: '{"w":1}' });
    const done = { kind: 'done', renderId: hold.renderId, facts: '{"w":1}' };
    world().pass(DAY - 1);
    await idempotency.removeExpired();
    expect(await idempotency.claim(id, 'k', { fingerprint: 'fp' }, 'r2')).toEqual(done);
    expect(await idempotency.claim(id, 'k', { fingerprint: 'other' }, 'r2')).toEqual({ kind: 'mismatch' });
    await idempotency.abandon(id, 'k', hold.renderId);
    expect(await idempotency.claim(id, 'k', { fingerprint: 'fp' }, 'r2')).toEqual(done);
    world().pass(1);
    expect(await idempotency.claim(id, 'k', { fingerprint: 'other' }, 'r2')).toEqual({ kind: 'new' });
  });

  it('frees a key when its render fails, and only for that render', async () => {
    const { idempotency } = world().store;
    const id = await world().account();
    await idempotency.claim(id, 'k', { fingerprint: 'fp' }, 'r1');
    await idempotency.abandon(id, 'k', 'r2');
    expect(await idempotency.claim(id, 'k', { fingerprint: 'fp' }, 'r3')).toEqual({ kind: 'in flight' });
    await idempotency.abandon(id, 'k', 'r1');
    expect(await idempotency.claim(id, 'k', { fingerprint: 'other' }, 'r4')).toEqual({ kind: 'new' });
  });

  it('lets one request take a key over from a dead server, and charges it once', async () => {
    const id = await world().account();
    const dead = await world().server('there/9/x');
    const [lost, again] = [await world().hold(id), await world().hold(id)];
    await dead.idempotency.claim(id, 'k', { fingerprint: 'fp' }, lost.renderId);
    await dead.ledger.reserve(lost);
    expect(await world().store.idempotency.claim(id, 'k', { fingerprint: 'fp' }, again.renderId)).toEqual({
      kind: 'in flight',
    });
    world().pass(HOUR);
    expect(await world().store.idempotency.claim(id, 'k', { fingerprint: 'fp' }, again.renderId)).toEqual({
      kind: 'new',
    });
    expect(await world().store.idempotency.claim(id, 'k', { fingerprint: 'fp' }, 'r3')).toEqual({ kind: 'in flight' });
    await world().store.ledger.reserve(again);
    // The server was only slow: its late delivery isn't charged a second time.
    const place = { accountId: id, key: 'k' };
    expect(await dead.ledger.settle(lost.renderId, DELIVERED, { ...place, facts: '"late"' })).toBe(false);
    expect(await world().store.ledger.settle(again.renderId, DELIVERED, { ...place, facts: '"new"' })).toBe(true);
    expect(await world().balance(id)).toEqual({ used: 1, reserved: 0 });
    expect(await dead.idempotency.claim(id, 'k', { fingerprint: 'fp' }, 'r4')).toMatchObject({
      kind: 'done',
      facts: '"new"',
    });
  });

  it('frees a key when a dead server is swept', async () => {
    const id = await world().account();
    const dead = await world().server('there/9/x');
    const hold = await world().hold(id);
    await dead.idempotency.claim(id, 'k', { fingerprint: 'fp' }, hold.renderId);
    await dead.ledger.reserve(hold);
    expect(await world().store.ledger.sweep(() => true)).toHaveLength(1);
    expect(await world().store.idempotency.claim(id, 'k', { fingerprint: 'fp' }, 'r2')).toEqual({ kind: 'new' });
    expect(await dead.ledger.release(hold.renderId, FAILED)).toBe(false);
  });

  it('removes more than a batch of expired keys', async () => {
    const id = await world().account();
    await world().engine.transaction(async (session) => {
      for (let index = 0; index < 1_100; index += 1) {
        await insertRow(session, 'idempotency', {
          accountId: id,
          key: `k${index}`,
          fingerprint: 'fp',
          renderId: 'r',
          owner: 'o',
          state: 'done',
          expiresAt: index === 0 ? '2026-12-31T00:00:00.000Z' : '2026-01-01T00:00:00.000Z',
        });
      }
    });
    await world().store.idempotency.removeExpired();
    expect(await world().engine.all('select key from idempotency')).toEqual([{ key: 'k0' }]);
  });
}
