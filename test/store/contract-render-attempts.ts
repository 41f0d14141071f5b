import { expect, it } from 'vitest';
import { must } from '../../src/shared/must.ts';
import { reconcile } from '../../src/service/store/ledger/reconcile.ts';
import { AttemptLost } from '../../src/service/store/renders/lock-attempt.ts';
import { acceptedRecord, finishedRecord } from '../../src/service/store/renders/render.ts';
import { LIMITS, renderSetup } from './render-setup.ts';
import { HOUR, LIMIT, type World } from './world.ts';

export function renderAttemptsContract(world: () => World): void {
  const { newRender, accepted, claimed, reserve, success, scopeOf } = renderSetup(world);

  it.each([
    ['a higher', 2, 7],
    ['a lower', 7, 2],
    ['no', 5, 0],
    ['a first', 0, 5],
  ])('charges %s price when the asset changes between two attempts', async (_name, before, after) => {
    const { renders } = world().store;
    const id = await world().account();
    const { id: renderId } = await accepted(id, { lane: 'image' });
    const first = await claimed();
    expect(await reserve(first, world().store, before)).toBe(true);
    await renders.giveBack(first.attempt, 0);
    const second = await claimed();
    expect(await reserve(second, world().store, after)).toBe(true);
    expect(await world().balance(id)).toEqual({ used: 0, reserved: after });
    expect(await reserve(second, world().store, after)).toBe(true);
    expect(await renders.succeed(second.attempt, success(renderId, { credits: after }))).toBe(true);
    expect(await world().balance(id)).toEqual({ used: after, reserved: 0 });
    expect(await world().store.usage.latest(id, 1)).toMatchObject([{ credits: after, state: 'settled' }]);
    expect(await reconcile(world().engine)).toEqual([]);
  });

  it('a request that an attempt has added to is the one of the next attempt, and an older attempt changes nothing', async () => {
    const { renders } = world().store;
    const id = await world().account();
    const { id: renderId } = await accepted(id);
    const first = await claimed();
    await renders.replaceRequest(first.attempt, '{"transcript":1}');
    await renders.giveBack(first.attempt, 0);
    const second = await claimed();
    expect(second.render.request).toBe('{"transcript":1}');
    await expect(renders.replaceRequest(first.attempt, '{}')).rejects.toThrow(AttemptLost);
    expect((await renders.find({ accountId: id }, renderId))?.request).toBe('{"transcript":1}');
  });

  it('refuses an attempt whose asset has become too expensive, and then releases the first price', async () => {
    const { renders } = world().store;
    const id = await world().account();
    await accepted(id);
    const first = await claimed();
    await reserve(first, world().store, 2);
    await renders.giveBack(first.attempt, 0);
    const second = await claimed();
    expect(await reserve(second, world().store, LIMIT + 1)).toBe(false);
    expect(await world().balance(id)).toEqual({ used: 0, reserved: 2 });
    await renders.fail(second.attempt, { error: '{}', code: 'quota_exceeded', durationMs: 1 });
    expect(await world().balance(id)).toEqual({ used: 0, reserved: 0 });
    expect(await reconcile(world().engine)).toEqual([]);
  });

  it('lowers the price of an attempt even when the plan has become smaller than what is used', async () => {
    const { ledger, renders } = world().store;
    const id = await world().account();
    await accepted(id);
    const first = await claimed();
    await reserve(first, world().store, 50);
    await renders.giveBack(first.attempt, 0);
    const { attempt, render } = await claimed();
    const { id: renderId, accountId, keyId, mode, period } = render;
    const hold = { renderId, accountId, keyId, mode, kind: 'image', credits: 40, period, limit: 10 } as const;
    expect(await ledger.reserve({ ...hold, attempt: attempt.number })).toMatchObject({
      granted: true,
      balance: { used: 0, reserved: 40 },
    });
  });

  it('a render is due although the clock was set back after it was accepted or given back', async () => {
    const { renders } = world().store;
    const id = await world().account();
    await accepted(id);
    world().pass(-20_000);
    const first = await claimed();
    await renders.giveBack(first.attempt, 20_000);
    // A pause is respected.
    expect(await renders.claim('image')).toBeUndefined();
    world().pass(-5 * HOUR);
    expect((await claimed()).attempt.number).toBe(2);
  });

  it('keeps the lease of a running render although the clock was set back', async () => {
    await accepted(await world().account());
    const { attempt } = await claimed();
    world().pass(-5 * HOUR);
    expect(await world().store.renders.claim('image')).toBeUndefined();
    expect(await world().store.renders.renew(attempt, 0.5)).toBe(true);
  });

  it('a render is stored as its acceptance says', async () => {
    const { renders } = world().store;
    const id = await world().account();
    const at = new Date('2026-01-31T10:00:01.234Z');
    const asset = { name: 'assets/x', format: 'jpeg', bytes: 4, sha256: undefined };
    for (const lane of ['image', 'video', 'fetch'] as const) {
      const render = await newRender(id, { lane, keyId: 'k', ...(lane === 'video' && { asset }) });
      await renders.accept([render], { limits: LIMITS, at });
      expect(await renders.find(scopeOf(id), render.id)).toEqual(acceptedRecord(render, at));
    }
  });

  it('a finished render is stored as the response of the request that waited for it says', async () => {
    const { ledger, renders } = world().store;
    const id = await world().account();
    const at = new Date('2026-01-31T10:00:01.234Z');
    const render = await newRender(id);
    await ledger.reserve(await world().hold(id, { renderId: render.id, credits: 3 }));
    const done = success(render.id);
    expect(await renders.addFinished(render, done, { limits: LIMITS, at })).toEqual({ kind: 'added' });
    const found = must(await renders.find(scopeOf(id), render.id), 'the render');
    expect(found).toEqual(finishedRecord(render, done, at));
  });
}
