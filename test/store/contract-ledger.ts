import { randomUUID } from 'node:crypto';
import { expect, it } from 'vitest';
import { remaining } from '../../src/service/account/credits.ts';
import { must } from '../../src/shared/must.ts';
import { reconcile } from '../../src/service/store/ledger/reconcile.ts';
import type { NewHold } from '../../src/service/store/ledger/holds.ts';
import { LIMITS, renderSetup } from './render-setup.ts';
import { DELIVERED, FAILED, HOUR, LIMIT, type World } from './world.ts';

export function ledgerContract(world: () => World): void {
  const { newRender } = renderSetup(world);

  it('reserves credits, then charges delivered renders and releases the others', async () => {
    const { ledger } = world().store;
    const id = await world().account();
    const [good, bad] = [await world().hold(id, { credits: 7 }), await world().hold(id, { credits: 5 })];
    expect(await ledger.reserve(good)).toEqual({ granted: true, balance: { used: 0, reserved: 7, limit: LIMIT } });
    expect(await ledger.reserve(bad)).toEqual({ granted: true, balance: { used: 0, reserved: 12, limit: LIMIT } });
    expect(await ledger.settle(good.renderId, DELIVERED)).toBe(true);
    expect(await ledger.release(bad.renderId, FAILED)).toBe(true);
    expect(await world().balance(id)).toEqual({ used: 7, reserved: 0 });
  });

  it('applies every step at most once', async () => {
    const { ledger } = world().store;
    const id = await world().account();
    const [one, two] = [await world().hold(id, { credits: 3 }), await world().hold(id, { credits: 4 })];
    for (const hold of [one, one, two, two]) expect(await ledger.reserve(hold)).toMatchObject({ granted: true });
    expect(await world().balance(id)).toEqual({ used: 0, reserved: 7 });
    expect([
      await ledger.settle(one.renderId, DELIVERED),
      await ledger.settle(one.renderId, DELIVERED),
      await ledger.release(one.renderId, FAILED),
      await ledger.release(two.renderId, FAILED),
      await ledger.release(two.renderId, FAILED),
      await ledger.settle(two.renderId, DELIVERED),
      await ledger.settle('never reserved', DELIVERED),
    ]).toEqual([true, false, false, true, false, false, false]);
    expect(await ledger.reserve(one)).toMatchObject({ granted: true });
    expect(await ledger.reserve(two)).toMatchObject({ granted: false });
    expect(await world().balance(id)).toEqual({ used: 3, reserved: 0 });
  });

  it('grants credits up to the limit of the plan and never beyond', async () => {
    const { ledger } = world().store;
    const id = await world().account();
    const almostAll = await ledger.reserve(await world().hold(id, { credits: 99 }));
    expect(remaining(almostAll.balance)).toBe(1);
    expect(await ledger.reserve(await world().hold(id, { credits: 2 }))).toEqual({
      granted: false,
      balance: { used: 0, reserved: 99, limit: LIMIT },
    });
    const last = await world().hold(id);
    expect(await ledger.reserve(last)).toMatchObject({ granted: true });
    expect(await ledger.reserve(await world().hold(id))).toMatchObject({ granted: false });
    // A refused reservation leaves nothing behind and may be repeated.
    await ledger.release(last.renderId, FAILED);
    expect(await ledger.reserve(await world().hold(id))).toMatchObject({ granted: true });
    // With a smaller plan while more is used, nothing is granted and the remaining credits aren't negative.
    const smaller = await ledger.reserve(await world().hold(id, { limit: 10 }));
    expect([smaller.granted, remaining(smaller.balance)]).toEqual([false, 0]);
    expect(await ledger.reserve(await world().hold(await world().account(), { credits: 101 }))).toMatchObject({
      granted: false,
    });
  });

  it('adds credits that were granted for a period to those of the plan', async () => {
    const { ledger } = world().store;
    const id = await world().account();
    await ledger.reserve(await world().hold(id));
    await world().engine.run('update periods set granted = 5 where account_id = :id', { id });
    const { period } = await world().subscription(id);
    expect(await ledger.balance(id, period, LIMIT)).toEqual({ used: 0, reserved: 1, limit: LIMIT + 5 });
    expect(await ledger.reserve(await world().hold(id, { credits: LIMIT + 5 }))).toMatchObject({ granted: false });
    expect(await ledger.reserve(await world().hold(id, { credits: LIMIT + 4 }))).toEqual({
      granted: true,
      balance: { used: 0, reserved: LIMIT + 5, limit: LIMIT + 5 },
    });
  });

  it('never charges a test key, whatever it renders and however few credits are left', async () => {
    const { ledger } = world().store;
    const id = await world().account();
    await ledger.reserve(await world().hold(id, { credits: LIMIT }));
    const hold = await world().hold(id, { mode: 'test', kind: 'video', credits: 12 });
    expect(await ledger.reserve(hold)).toMatchObject({ granted: true });
    await ledger.settle(hold.renderId, DELIVERED);
    expect(await world().balance(id)).toEqual({ used: 0, reserved: LIMIT });
    expect(await world().store.usage.days(id, '2026-01-01', '2026-12-31')).toEqual([
      { day: '2026-01-31', mode: 'test', outcome: 'delivered', renders: 1, credits: 0 },
    ]);
  });

  it('charges the period in which a render started', async () => {
    const { ledger, accounts } = world().store;
    const id = await world().account();
    world().goTo('2026-02-28T09:59:59Z');
    const hold = await world().hold(id, { credits: 6 });
    await ledger.reserve(hold);
    world().goTo('2026-02-28T10:00:01Z');
    await ledger.settle(hold.renderId, DELIVERED);
    expect(await world().balance(id)).toEqual({ used: 0, reserved: 0 });
    expect(await ledger.balance(id, hold.period, LIMIT)).toMatchObject({ used: 6 });
    expect((await accounts.find(id))?.subscription?.period.startsAt).not.toEqual(hold.period.startsAt);
  });

  it('releases the holds of a dead server, and refuses its late settlement', async () => {
    const id = await world().account();
    const other = await world().server('there/9/x');
    const [done, open] = [await world().hold(id, { credits: 2 }), await world().hold(id, { credits: 3 })];
    for (const hold of [done, open]) await other.ledger.reserve(hold);
    await other.ledger.settle(done.renderId, DELIVERED);
    world().pass(29_999);
    expect(await world().store.ledger.sweep()).toHaveLength(0);
    world().pass(1);
    expect(await world().store.ledger.sweep()).toHaveLength(1);
    expect(await world().store.ledger.sweep()).toHaveLength(0);
    expect(await other.ledger.settle(open.renderId, DELIVERED)).toBe(false);
    expect(await world().balance(id)).toEqual({ used: 2, reserved: 0 });
    expect(await world().store.usage.latest(id, 10)).toContainEqual(
      expect.objectContaining({ id: open.renderId, state: 'released', outcome: 'server_lost' }),
    );
  });

  it('keeps the holds of live servers, and its own', async () => {
    const id = await world().account();
    const other = await world().server('there/9/x');
    await other.ledger.reserve(await world().hold(id));
    await world().store.ledger.reserve(await world().hold(id));
    for (let beat = 0; beat < 20; beat += 1) {
      world().pass(10_000);
      await other.ledger.heartbeat();
      expect(await world().store.ledger.sweep(() => false)).toHaveLength(0);
    }
    expect(await world().balance(id)).toEqual({ used: 0, reserved: 2 });
    expect(await world().store.ledger.sweep((owner) => owner.startsWith('there/9'))).toHaveLength(1);
    expect(await world().balance(id)).toEqual({ used: 0, reserved: 1 });
    // The server was alive after all: its new holds are kept again.
    await other.ledger.heartbeat();
    await other.ledger.reserve(await world().hold(id));
    expect(await world().store.ledger.sweep()).toHaveLength(0);
  });

  it('releases the holds of a server that never had a lease', async () => {
    const id = await world().account();
    await world().store.ledger.reserve(await world().hold(id, { credits: 9 }));
    await world().engine.run("update holds set owner = 'unknown/1/x'");
    expect(await world().store.ledger.sweep()).toHaveLength(1);
    expect(await world().balance(id)).toEqual({ used: 0, reserved: 0 });
  });

  it('sweeps more than a batch, and the sums stay correct with two concurrent sweeps', async () => {
    const id = await world().account();
    const dead = await world().server('there/8/x');
    for (let count = 0; count < 120; count += 1) await dead.ledger.reserve(await world().hold(id, { limit: 500 }));
    world().pass(HOUR);
    const another = await world().server('there/7/x');
    const swept = await Promise.all([world().store.ledger.sweep(), another.ledger.sweep()]);
    expect(swept.flat()).toHaveLength(120);
    expect(await world().balance(id)).toEqual({ used: 0, reserved: 0 });
  });

  it('grants 100 of 500 concurrent reservations across several servers', async () => {
    const id = await world().account();
    const servers = await Promise.all([1, 2, 3, 4].map(async (n) => await world().server(`there/${n}`)));
    const hold = await world().hold(id);
    // 100 callers with five reservations each: 500 at the same moment could wait for a connection beyond its timeout.
    const callers = Array.from({ length: 100 }, async (_, index) => {
      const { ledger } = must(servers[index % servers.length], 'server');
      const results: boolean[] = [];
      for (let count = 0; count < 5; count += 1) {
        results.push((await ledger.reserve({ ...hold, renderId: randomUUID() })).granted);
      }
      return results;
    });
    const granted = (await Promise.all(callers)).flat().filter(Boolean);
    expect(granted).toHaveLength(LIMIT);
    expect(await world().balance(id)).toEqual({ used: 0, reserved: LIMIT });
  });

  it('gives the credits of a broken delivery back until the allowance is used up, then charges every one', async () => {
    const { ledger } = world().store;
    const id = await world().account();
    const breakOff = async (): Promise<'free' | 'charged' | undefined> => {
      const hold = await world().hold(id, { credits: 3 });
      await ledger.reserve(hold);
      return await ledger.breakOff(hold.renderId, 5);
    };
    for (let count = 0; count < 20; count += 1) expect(await breakOff()).toBe('free');
    expect(await world().balance(id)).toEqual({ used: 0, reserved: 0 });
    expect([await breakOff(), await breakOff()]).toEqual(['charged', 'charged']);
    expect(await world().balance(id)).toEqual({ used: 6, reserved: 0 });
    const { period } = await world().subscription(id);
    expect(await ledger.deliveries(id, period)).toEqual({ delivered: 0, brokenFree: 20, brokenCharged: 2 });
    expect(await world().store.usage.days(id, '2026-01-01', '2026-12-31')).toEqual([
      { day: '2026-01-31', mode: 'live', outcome: 'aborted', renders: 2, credits: 6 },
      { day: '2026-01-31', mode: 'live', outcome: 'delivery_broken', renders: 20, credits: 0 },
    ]);
    expect(await reconcile(world().engine)).toEqual([]);
    // The next period has its own allowance.
    world().goTo('2026-03-01T00:00:00Z');
    expect(await breakOff()).toBe('free');
  });

  it('allows broken deliveries for 2 % of the delivered renders', async () => {
    const { ledger } = world().store;
    const id = await world().account();
    const { period } = await world().subscription(id);
    for (let count = 0; count < 50; count += 1) {
      const hold = await world().hold(id);
      await ledger.reserve(hold);
      await ledger.settle(hold.renderId, DELIVERED);
    }
    await world().engine.run('update periods set broken_free = 20 where account_id = :id', { id });
    const [last, tooMany] = [await world().hold(id), await world().hold(id)];
    for (const hold of [last, tooMany]) await ledger.reserve(hold);
    expect(await ledger.breakOff(last.renderId, 5)).toBe('free');
    expect(await ledger.breakOff(tooMany.renderId, 5)).toBe('charged');
    expect(await ledger.deliveries(id, period)).toEqual({ delivered: 50, brokenFree: 21, brokenCharged: 1 });
  });

  it('ends a broken delivery at most once, and never charges or counts a test key', async () => {
    const { ledger } = world().store;
    const id = await world().account();
    const { period } = await world().subscription(id);
    await ledger.reserve(await world().hold(id));
    await world().engine.run('update periods set broken_free = 99 where account_id = :id', { id });
    const [live, test] = [await world().hold(id, { credits: 4 }), await world().hold(id, { mode: 'test', credits: 4 })];
    for (const hold of [live, test]) await ledger.reserve(hold);
    const ends = [live, test, live, test].map(({ renderId }) => renderId);
    const results: unknown[] = [];
    for (const renderId of ends) results.push(await ledger.breakOff(renderId, 5));
    expect(results).toEqual(['charged', 'free', undefined, undefined]);
    expect(await ledger.settle(live.renderId, DELIVERED)).toBe(false);
    expect(await world().balance(id)).toEqual({ used: 4, reserved: 1 });
    expect(await ledger.deliveries(id, period)).toEqual({ delivered: 0, brokenFree: 99, brokenCharged: 1 });
  });

  it('counts synchronous and asynchronous test renders together, unless they fail', async () => {
    const { ledger, renders } = world().store;
    const id = await world().account();
    const limit = 4;
    const reserve = async (changes: Partial<NewHold> = {}): Promise<NewHold & { readonly tests?: number }> => {
      const hold = await world().hold(id, { mode: 'test', testRendersPerDay: limit, ...changes });
      const { granted, testRenders } = await ledger.reserve(hold);
      expect(granted).toBe(testRenders === undefined);
      return { ...hold, ...(testRenders !== undefined && { tests: testRenders }) };
    };
    const accept = async (count: number) => {
      const batch = Array.from({ length: count }, async () => await newRender(id, { mode: 'test' }));
      const all = await Promise.all(batch);
      return { all, ...(await renders.accept(all, { limits: { ...LIMITS, testRendersPerDay: limit } })) };
    };
    const [delivered, failed, broken] = [await reserve(), await reserve(), await reserve()];
    expect(await accept(2)).toMatchObject({ what: 'testRendersPerDay', actual: 5 });
    const { all } = await accept(1);
    expect(await reserve()).toMatchObject({ tests: 5 });
    // The same hold again, as after a lost connection, and a replay don't count.
    expect(await reserve({ renderId: delivered.renderId })).not.toHaveProperty('tests');
    const { testRendersPerDay: _limit, ...replay } = await world().hold(id, { mode: 'test' });
    expect(await ledger.reserve(replay)).toMatchObject({ granted: true });
    await ledger.release(replay.renderId, { outcome: 'worker_crashed', durationMs: 1 });
    await ledger.settle(delivered.renderId, DELIVERED);
    await ledger.breakOff(broken.renderId, 1);
    expect(await reserve()).toMatchObject({ tests: 5 });
    await ledger.release(failed.renderId, { outcome: 'worker_crashed', durationMs: 1 });
    const again = await reserve();
    expect(again).not.toHaveProperty('tests');
    await renders.cancel({ accountId: id }, all[0]?.id ?? '');
    expect(await accept(1)).toMatchObject({ kind: 'accepted' });
    // Another account, and another day.
    expect(
      await ledger.reserve(await world().hold(await world().account(), { mode: 'test', testRendersPerDay: 1 })),
    ).toMatchObject({ granted: true });
    world().pass(24 * 3_600_000);
    await ledger.release(again.renderId, { outcome: 'worker_crashed', durationMs: 1 });
    expect(await accept(4)).toMatchObject({ kind: 'accepted' });
    expect(await accept(1)).toMatchObject({ what: 'testRendersPerDay', actual: 5 });
  });

  it('never grants more test renders than the limit to requests at the same time', async () => {
    const { ledger } = world().store;
    const id = await world().account();
    const holds = await Promise.all(
      Array.from({ length: 8 }, async () => await world().hold(id, { mode: 'test', testRendersPerDay: 5 })),
    );
    const results = await Promise.all(holds.map(async (hold) => await ledger.reserve(hold)));
    expect(results.filter(({ granted }) => granted)).toHaveLength(5);
    expect(results.filter(({ testRenders }) => testRenders === 6)).toHaveLength(3);
  });

  it('makes a repetition free when a broken delivery with an idempotency key was charged', async () => {
    const { ledger, idempotency } = world().store;
    const id = await world().account();
    const hold = await world().hold(id);
    const remember = { accountId: id, key: 'live:k', facts: '{}' };
    await idempotency.claim(id, 'live:k', { fingerprint: 'print' }, hold.renderId);
    await ledger.reserve(hold);
    await world().engine.run('update periods set broken_free = 20 where account_id = :id', { id });
    expect(await ledger.breakOff(hold.renderId, 5, remember)).toBe('charged');
    await idempotency.abandon(id, 'live:k', hold.renderId);
    expect(await idempotency.claim(id, 'live:k', { fingerprint: 'print' }, randomUUID())).toEqual({
      kind: 'done',
      renderId: hold.renderId,
      facts: '{}',
    });
  });

  it('charges nothing for a broken delivery whose idempotency key another server has taken over', async () => {
    const { ledger } = world().store;
    const id = await world().account();
    const hold = await world().hold(id);
    await ledger.reserve(hold);
    await world().engine.run('update periods set broken_free = 20 where account_id = :id', { id });
    const remember = { accountId: id, key: 'live:gone', facts: '{}' };
    expect(await ledger.breakOff(hold.renderId, 5, remember)).toBeUndefined();
    expect(await world().balance(id)).toEqual({ used: 0, reserved: 0 });
  });

  it('finds sums that differ from their rows', async () => {
    const { ledger } = world().store;
    const id = await world().account();
    const [held, charged] = [await world().hold(id, { credits: 3 }), await world().hold(id, { credits: 4 })];
    for (const hold of [held, charged]) await ledger.reserve(hold);
    await ledger.settle(charged.renderId, DELIVERED);
    expect(await reconcile(world().engine)).toEqual([]);
    const change = async (sums: string): Promise<void> =>
      void (await world().engine.run(`update periods set ${sums} where account_id = :id`, { id }));
    const period = { accountId: id, periodStartsAt: held.period.startsAt.toISOString() };
    await change('reserved = 2');
    expect(await reconcile(world().engine)).toEqual([{ what: 'reserved', ...period, sum: 2, rows: 3 }]);
    await change('reserved = 3, used = 3');
    expect(await reconcile(world().engine)).toEqual([
      { what: 'used', ...period, sum: 3, rows: 4 },
      { what: 'usage', accountId: id, periodStartsAt: null, sum: 3, rows: 4 },
    ]);
    // Single renders are deleted after a while, and their sums remain.
    await change('used = 4');
    await world().engine.run('delete from holds where id = :id', { id: charged.renderId });
    expect(await reconcile(world().engine)).toEqual([]);
  });

  it('changes the reserved credits when another attempt has another price', async () => {
    const { ledger } = world().store;
    const id = await world().account();
    const hold = await world().hold(id, { credits: 3 });
    await ledger.reserve(hold);
    expect(await ledger.reserve({ ...hold, credits: 5 })).toMatchObject({ granted: true, balance: { reserved: 5 } });
    expect(await ledger.reserve({ ...hold, credits: 1 })).toMatchObject({ granted: true, balance: { reserved: 1 } });
    // The higher price isn't granted, and the old hold stays.
    expect(await ledger.reserve({ ...hold, credits: LIMIT + 1 })).toMatchObject({ granted: false });
    expect(await world().balance(id)).toEqual({ used: 0, reserved: 1 });
    await ledger.settle(hold.renderId, DELIVERED);
    expect(await world().balance(id)).toEqual({ used: 1, reserved: 0 });
    expect(await reconcile(world().engine)).toEqual([]);
  });

  it('has no deliveries and no used credits in a period without a render', async () => {
    const { ledger } = world().store;
    const id = await world().account();
    const { period } = await world().subscription(id);
    expect(await ledger.deliveries(id, period)).toEqual({ delivered: 0, brokenFree: 0, brokenCharged: 0 });
    expect(await ledger.balance(id, period, LIMIT)).toEqual({ used: 0, reserved: 0, limit: LIMIT });
  });

  it('distrusts a clock that is far from the time of earlier heartbeats', async () => {
    const { ledger } = world().store;
    expect(await ledger.heartbeat()).toEqual({ isTimeTrusted: true });
    world().pass(1_000);
    expect(await ledger.heartbeat()).toEqual({ isTimeTrusted: true });
    world().pass(100 * 24 * HOUR);
    expect(await ledger.heartbeat()).toEqual({ isTimeTrusted: false });
  });
}
