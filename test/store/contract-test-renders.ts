import { expect, it } from 'vitest';
import { LIMITS, renderSetup } from './render-setup.ts';
import { HOUR, type World } from './world.ts';

export function testRendersContract(world: () => World): void {
  const { newRender } = renderSetup(world);
  const limit = 4;

  const reserve = async (accountId: string) => {
    const hold = await world().hold(accountId, { mode: 'test', testRendersPerDay: limit });
    const { granted, testRenders } = await world().store.ledger.reserve(hold);
    return { renderId: hold.renderId, granted, testRenders };
  };

  it('counts the test renders of a day together, until midnight in UTC', async () => {
    const id = await world().account();
    world().goTo('2026-02-01T00:00:00Z');
    for (let count = 0; count < limit; count += 1) {
      expect(await reserve(id)).toMatchObject({ granted: true });
      world().pass(5 * HOUR);
    }
    world().goTo('2026-02-01T23:59:59Z');
    expect(await reserve(id)).toMatchObject({ granted: false, testRenders: limit + 1 });
    world().goTo('2026-02-02T00:00:00Z');
    expect(await reserve(id)).toMatchObject({ granted: true });
  });

  it('refuses a batch of more test renders than a day allows, even as the first one of an account', async () => {
    const id = await world().account();
    const all = await Promise.all(Array.from({ length: limit + 1 }, async () => await newRender(id, { mode: 'test' })));
    const limits = { ...LIMITS, testRendersPerDay: limit };
    expect(await world().store.renders.accept(all, { limits })).toMatchObject({
      what: 'testRendersPerDay',
      actual: limit + 1,
    });
    expect(await world().store.renders.accept(all.slice(1), { limits })).toMatchObject({ kind: 'accepted' });
  });

  it('keeps a test render counted whose file could not be delivered', async () => {
    const id = await world().account();
    const { ledger } = world().store;
    const holds = [await reserve(id), await reserve(id), await reserve(id), await reserve(id)];
    await ledger.release(holds[0]?.renderId ?? '', { outcome: 'delivery_failed', durationMs: 1 });
    expect(await reserve(id)).toMatchObject({ granted: false });
    world().pass(HOUR);
    await ledger.release(holds[1]?.renderId ?? '', { outcome: 'worker_crashed', durationMs: 1 });
    expect(await reserve(id)).toMatchObject({ granted: true });
  });
}
