import { expect, it } from 'vitest';
import { LIMITS, renderSetup } from './render-setup.ts';
import type { World } from './world.ts';

export function storedBytesContract(world: () => World): void {
  const { newRender, accepted, claimed, reserve, success, scopeOf } = renderSetup(world);

  /** Returns the bytes of the account and of the service, as the limits see them. */
  async function stored(accountId: string): Promise<readonly (number | undefined)[]> {
    const demand = { accountId, mode: 'live', renders: 0, bytes: 0 } as const;
    const { renders } = world().store;
    const ofAccount = await renders.storageExceeded(demand, { ...LIMITS, storedBytes: -1 });
    const ofService = await renders.storageExceeded(demand, { ...LIMITS, serviceBytes: -1 });
    return [ofAccount?.actual, ofService?.actual];
  }

  const assetOf = (name: string) => ({ name: `assets/${name}`, format: 'jpeg', bytes: 400, sha256: undefined });

  it('counts uploads and results of an account and of the service until they are deleted', async () => {
    const { renders } = world().store;
    const [one, two] = [await world().account(), await world().account()];
    expect(await stored(one)).toEqual([0, 0]);
    const { id } = await accepted(one, { asset: assetOf('a') });
    expect([await stored(one), await stored(two)]).toEqual([
      [400, 400],
      [0, 400],
    ]);
    const claim = await claimed();
    await reserve(claim);
    await renders.succeed(claim.attempt, success(id));
    expect(await stored(one)).toEqual([1_100, 1_100]);
    await accepted(two, { asset: assetOf('b') });
    const expired = { renderId: id, kind: 'asset', name: 'assets/a' } as const;
    await renders.markDeleted(expired);
    await renders.markDeleted(expired);
    expect([await stored(one), await stored(two)]).toEqual([
      [700, 1_100],
      [400, 1_100],
    ]);
    await renders.remove(scopeOf(one), id);
    expect(await stored(one)).toEqual([0, 400]);
  });

  it('refuses a request that would exceed the limit of the service, and takes it when there is room', async () => {
    const { renders } = world().store;
    const [one, two] = [await world().account(), await world().account()];
    const limits = { ...LIMITS, serviceBytes: 700 };
    const first = await newRender(one, { asset: assetOf('a') });
    expect(await renders.accept([first], { limits })).toEqual({ kind: 'accepted' });
    const second = await newRender(two, { asset: assetOf('b') });
    expect(await renders.accept([second], { limits })).toEqual({
      kind: 'over limit',
      what: 'serviceBytes',
      actual: 800,
    });
    await renders.cancel(scopeOf(one), first.id);
    await renders.markDeleted({ renderId: first.id, kind: 'asset', name: 'assets/a' });
    expect(await renders.accept([second], { limits })).toEqual({ kind: 'accepted' });
  });

  it('counts nothing of an account that was deleted, and keeps nothing about it', async () => {
    const { accountData } = world().store;
    const id = await world().account();
    const { id: renderId } = await accepted(id, { asset: assetOf('a') });
    await world().store.renders.cancel(scopeOf(id), renderId);
    await accountData.erase(id, 'cli:test');
    world().pass(3_600_000);
    expect(await accountData.purge(() => undefined)).toEqual([id]);
    expect(await stored(await world().account())).toEqual([0, 0]);
    expect(await world().engine.all('select account_id from stored_bytes')).toEqual([]);
  });
}
