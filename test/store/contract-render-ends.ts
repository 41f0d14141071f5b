import { randomUUID } from 'node:crypto';
import { expect, it } from 'vitest';
import { must } from '../../src/shared/must.ts';
import { liveServers } from '../../src/service/store/copy.ts';
import { LIMITS, renderSetup } from './render-setup.ts';
import { DAY, START, type World } from './world.ts';

export function renderEndsContract(world: () => World): void {
  const { newRender, accepted, claimed, reserve, success, scopeOf, statusOf } = renderSetup(world);

  it('ends the link to a result when its account is deleted, and while it is suspended', async () => {
    const { renders, accounts, accountData } = world().store;
    const id = await world().account();
    const { id: renderId } = await accepted(id);
    const claim = await claimed();
    await reserve(claim);
    await renders.succeed(claim.attempt, success(renderId));
    const isFound = async (): Promise<boolean> => (await renders.findByToken(`token-${renderId}`)) !== undefined;
    expect(await isFound()).toBe(true);
    await accounts.setSuspended(id, true, 'cli:test');
    expect(await isFound()).toBe(false);
    await accounts.setSuspended(id, false, 'cli:test');
    expect(await isFound()).toBe(true);
    await accountData.erase(id, 'cli:test');
    expect(await isFound()).toBe(false);
  });

  it('reports objects that are no longer needed until they are marked as deleted, and then deletes the records', async () => {
    const { renders } = world().store;
    const id = await world().account();
    const asset = { name: 'assets/x', format: 'jpeg', bytes: 400, sha256: undefined };
    const { id: renderId } = await accepted(id, { asset });
    expect(await renders.expiredObjects(10)).toEqual([]);
    expect(await renders.orphans([`outputs/${renderId}.1`, 'assets/unknown'])).toEqual(['assets/unknown']);
    const claim = await claimed();
    await reserve(claim);
    await renders.succeed(claim.attempt, success(renderId));
    const expiredAsset = { renderId, kind: 'asset', name: 'assets/x' } as const;
    expect(await renders.expiredObjects(10)).toEqual([expiredAsset]);
    const other = await world().server('there/2/x');
    expect(await other.renders.expiredObjects(10)).toEqual([expiredAsset]);
    await Promise.all([renders.markDeleted(expiredAsset), other.renders.markDeleted(expiredAsset)]);
    expect(await renders.expiredObjects(10)).toEqual([]);
    // An output of an attempt that lost is an orphan, the one of the render isn't.
    expect(await renders.orphans([`outputs/${renderId}.1`, `outputs/${renderId}.2`])).toEqual([
      `outputs/${renderId}.2`,
    ]);
    world().pass(DAY);
    const [output] = await renders.expiredObjects(10);
    expect(output).toEqual({ renderId, kind: 'output', name: `outputs/${renderId}.1` });
    expect(await renders.deleteBefore(new Date(world().clock().getTime() + DAY))).toBe(0);
    await renders.markDeleted(must(output, 'the output'));
    expect(await renders.deleteBefore(world().clock())).toBe(1);
    expect(await renders.find(scopeOf(id), renderId)).toBeUndefined();
  });

  it('writes one event for every render that ends, in the transaction that ends it', async () => {
    const { renders } = world().store;
    const id = await world().account();
    const [done, failed, canceled] = [await accepted(id), await accepted(id), await accepted(id)];
    await renders.cancel(scopeOf(id), canceled.id);
    for (let claim = await renders.claim('image'); claim; claim = await renders.claim('image')) {
      await reserve(claim);
      world().pass(1);
      if (claim.render.id === done.id) await renders.succeed(claim.attempt, success(done.id));
      else await renders.fail(claim.attempt, { error: '{}', code: 'overloaded', durationMs: 1 });
    }
    const events = await renders.events.pending(10);
    expect(Object.fromEntries(events.map(({ renderId, type }) => [renderId, type]))).toEqual({
      [done.id]: 'render.succeeded',
      [failed.id]: 'render.failed',
      [canceled.id]: 'render.canceled',
    });
    for (const event of events.slice(0, 2)) await renders.events.markHandled(event.id);
    expect(await renders.events.pending(10)).toEqual(events.slice(2));
  });

  it('adds finished renders only within the limits of storage, also when several finish together', async () => {
    const { ledger, renders } = world().store;
    const add = async (accountId: string, limits: typeof LIMITS) => {
      const render = await newRender(accountId);
      await ledger.reserve(await world().hold(accountId, { renderId: render.id, credits: 3 }));
      const addition = await renders.addFinished(render, success(render.id), { limits });
      expect(await statusOf(accountId, render.id)).toBe(addition.kind === 'added' ? 'succeeded' : undefined);
      return addition;
    };
    // Each result has 700 bytes.
    const id = await world().account();
    const limits = { ...LIMITS, storedBytes: 1_400 };
    const live = await Promise.all([1, 2, 3].map(async () => await add(id, limits)));
    expect(live.filter(({ kind }) => kind === 'added')).toHaveLength(2);
    expect(live).toContainEqual({ kind: 'over limit', what: 'storedBytes', actual: 2_100 });
    expect(await world().balance(id)).toEqual({ used: 6, reserved: 3 });
    expect(await renders.storageExceeded({ accountId: id, bytes: 1 }, limits)).toMatchObject({ what: 'storedBytes' });
    expect(await renders.storageExceeded({ accountId: id, bytes: 0 }, limits)).toBeUndefined();
  });

  it('frees the idempotency key of a batch when the last of its renders is deleted', async () => {
    const { renders } = world().store;
    const id = await world().account();
    const batch = { id: randomUUID(), accountId: id, keyId: undefined, mode: 'live' } as const;
    const all = [
      await newRender(id, { batchId: batch.id }),
      await newRender(id, { batchId: batch.id }),
      await newRender(id, { batchId: batch.id }),
    ];
    const options = { limits: LIMITS, batch, idempotency: { key: 'k', fingerprint: 'fp' } };
    await renders.accept(all, options);
    for (const render of all) await renders.cancel(scopeOf(id), render.id);
    const [first, ...others] = all;
    await renders.remove(scopeOf(id), must(first, 'a render').id);
    expect(await renders.accept(all, options)).toEqual({ kind: 'replayed', id: batch.id });
    await Promise.all(others.map(async (render) => await renders.remove(scopeOf(id), render.id)));
    const again = { ...batch, id: randomUUID() };
    const next = await newRender(id, { batchId: again.id });
    expect(await renders.accept([next], { ...options, batch: again })).toEqual({ kind: 'accepted' });
  });

  it('an accepted render does not look like a running server', async () => {
    await accepted(await world().account());
    expect(await liveServers(world().engine, () => false, START)).toEqual([]);
  });
}
