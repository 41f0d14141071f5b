import { expect, it } from 'vitest';
import { must } from '../../src/primitives/must.ts';
import type { ClaimedRender } from '../../src/store/renders/render.ts';
import { LIMITS, renderSetup } from './render-setup.ts';
import { DAY, type World } from './world.ts';

const FAILURE = { error: '{"code":"delivery_failed"}', code: 'delivery_failed', durationMs: 5, result: '{"try":3}' };

export function renderDeliveriesContract(world: () => World): void {
  const { newRender, accepted, claimed, reserve, success, scopeOf } = renderSetup(world);

  /** A render whose file is due to be sent, and the claim of the server that sends it. */
  async function sending(accountId: string, credits = 3): Promise<ClaimedRender> {
    const { renders } = world().store;
    const { id } = await accepted(accountId, { target: 'targets/x' });
    const claim = await claimed();
    await reserve(claim, world().store, credits);
    expect(await renders.deliveries.handOver(claim.attempt, success(id))).toBe(true);
    return must(await renders.claim('put'), 'a file that is due');
  }

  const find = async (accountId: string, { render }: ClaimedRender) =>
    must(await world().store.renders.find(scopeOf(accountId), render.id), 'the render');

  it('a rendered file waits in a lane of its own, keeps its credits reserved, and can be claimed once', async () => {
    const { renders } = world().store;
    const id = await world().account();
    const claim = await sending(id);
    expect(claim.render).toMatchObject({ status: 'rendering', progress: 1, target: 'targets/x', credits: undefined });
    expect(claim.render.output?.bytes).toBe(700);
    expect(await renders.claim('put')).toBeUndefined();
    expect(await renders.claim('image')).toBeUndefined();
    expect(await world().balance(id)).toEqual({ used: 0, reserved: 3 });
    // It neither takes a place of the account's renders nor waits for one.
    await accepted(id, { maxRunning: 1 });
    await claimed();
    await accepted(id, { maxRunning: 1, target: 'targets/y' });
    expect(await renders.claim('image')).toBeUndefined();
  });

  it('the file of a dead server is claimed by another one, and only the latest attempt can end it', async () => {
    const { renders } = world().store;
    const id = await world().account();
    const lost = await sending(id);
    world().pass(60_000);
    const other = await world().server('there/2/x');
    const claim = must(await other.renders.claim('put'), 'the file of the dead server');
    expect(claim.attempt.number).toBe(lost.attempt.number + 1);
    const delivered = { result: '{"put":200}', durationMs: 7 };
    expect(await renders.deliveries.succeed(lost.attempt, delivered)).toBeUndefined();
    expect(await renders.deliveries.fail(lost.attempt, { ...FAILURE, wasSent: false })).toBeUndefined();
    expect(await other.renders.deliveries.succeed(claim.attempt, delivered)).toBe(3);
    expect(await other.renders.deliveries.succeed(claim.attempt, delivered)).toBeUndefined();
    expect(await find(id, claim)).toMatchObject({ status: 'succeeded', credits: 3, result: '{"put":200}' });
    expect(await world().balance(id)).toEqual({ used: 3, reserved: 0 });
    expect((await renders.events.pending(10)).map(({ type }) => type)).toEqual(['render.succeeded']);
  });

  it('a try that failed is due again after its pause, with what is known about it', async () => {
    const { renders } = world().store;
    const id = await world().account();
    const claim = await sending(id);
    await renders.deliveries.retry(claim.attempt, '{"try":1}', 5_000);
    expect(await renders.claim('put')).toBeUndefined();
    expect(await find(id, claim)).toMatchObject({ status: 'rendering', progress: 1 });
    world().pass(5_000);
    const again = must(await renders.claim('put'), 'the file');
    expect(again.render.result).toBe('{"try":1}');
    await renders.giveBack(again.attempt, 0);
    expect(await find(id, claim)).toMatchObject({ status: 'rendering', progress: 1 });
  });

  it('a delivery that failed is free if nothing was sent, and counts as a broken delivery otherwise', async () => {
    const { renders, ledger } = world().store;
    const id = await world().account();
    const unsent = await sending(id, 1);
    expect(await renders.deliveries.fail(unsent.attempt, { ...FAILURE, wasSent: false })).toBe(0);
    expect(await find(id, unsent)).toMatchObject({ status: 'failed', credits: 0, error: FAILURE.error });
    const { period } = await world().subscription(id);
    expect(await ledger.deliveries(id, period)).toMatchObject({ brokenFree: 0, brokenCharged: 0 });
    const charges: (number | undefined)[] = [];
    let last = unsent;
    for (let count = 0; count < 21; count += 1) {
      last = await sending(id, 1);
      charges.push(await renders.deliveries.fail(last.attempt, { ...FAILURE, wasSent: true }));
    }
    expect(charges).toEqual([...Array<number>(20).fill(0), 1]);
    expect(await ledger.deliveries(id, period)).toMatchObject({ brokenFree: 20, brokenCharged: 1 });
    expect(await world().balance(id)).toEqual({ used: 1, reserved: 0 });
    expect(await find(id, last)).toMatchObject({ status: 'failed', credits: 1 });
  });

  it('a file that is being sent can not be canceled, and its objects are reported when the render has ended', async () => {
    const { renders } = world().store;
    const id = await world().account();
    const claim = await sending(id);
    expect(await renders.cancel(scopeOf(id), claim.render.id)).toMatchObject({ status: 'rendering' });
    // The file stays until the render has ended, however long its receiver takes.
    world().pass(2 * DAY);
    expect(await renders.expiredObjects(10)).toEqual([]);
    expect(await renders.orphans(['targets/x', `targets/${claim.render.id}`])).toEqual(['targets/x']);
    expect(await renders.findByToken(`token-${claim.render.id}`)).toBeUndefined();
    const again = must(await renders.claim('put'), 'the file');
    await renders.deliveries.succeed(again.attempt, { result: '{}', durationMs: 7 });
    const expired = await renders.expiredObjects(10);
    expect(expired.map(({ kind }) => kind).toSorted()).toEqual(['output', 'target']);
    for (const object of expired) await renders.markDeleted(object);
    expect(await renders.expiredObjects(10)).toEqual([]);
    expect(await renders.storageExceeded({ accountId: id, bytes: 1 }, { ...LIMITS, storedBytes: 1 })).toBeUndefined();
  });

  it('the file of a request that waited outlives its server, and its key belongs to it until its end', async () => {
    const { renders, ledger, idempotency } = world().store;
    const id = await world().account();
    const fingerprints = { fingerprint: 'fp', asyncFingerprint: 'async' };
    const claimKey = async (renderId: string) => await idempotency.claim(id, 'k', fingerprints, renderId);
    const add = async () => {
      const render = await newRender(id, { target: 'targets/x' });
      expect(await claimKey(render.id)).toEqual({ kind: 'new' });
      await ledger.reserve(await world().hold(id, { renderId: render.id, credits: 3 }));
      const remember = { accountId: id, key: 'k', facts: '{}' };
      const addition = await renders.deliveries.add(render, success(render.id), { limits: LIMITS, remember });
      expect(addition).toEqual({ kind: 'added' });
      return render;
    };
    const first = await add();
    expect(await claimKey('r2')).toEqual({ kind: 'rendering' });
    world().pass(60_000);
    const other = await world().server('there/2/x');
    expect(await other.ledger.sweep(() => true)).toEqual([]);
    expect(await world().balance(id)).toEqual({ used: 0, reserved: 3 });
    const claim = must(await other.renders.claim('put'), 'the file');
    await other.renders.deliveries.fail(claim.attempt, { ...FAILURE, wasSent: false });
    // Nothing was charged, so the same request may try again.
    const second = await add();
    const again = must(await renders.claim('put'), 'the file');
    await renders.deliveries.succeed(again.attempt, { result: '{}', durationMs: 7 });
    expect(await claimKey('r3')).toEqual({ kind: 'done', renderId: second.id, facts: '{}' });
    expect(first.id).not.toBe(second.id);
    expect(await world().balance(id)).toEqual({ used: 3, reserved: 0 });
  });

  it('a file is not added when its hold is gone or its account has no room', async () => {
    const { renders, ledger } = world().store;
    const id = await world().account();
    const render = await newRender(id, { target: 'targets/x' });
    expect(await renders.deliveries.add(render, success(render.id), { limits: LIMITS })).toEqual({ kind: 'hold gone' });
    await ledger.reserve(await world().hold(id, { renderId: render.id, credits: 3 }));
    const limits = { ...LIMITS, storedBytes: 1 };
    expect(await renders.deliveries.add(render, success(render.id), { limits })).toMatchObject({ what: 'storedBytes' });
    expect(await renders.find(scopeOf(id), render.id)).toBeUndefined();
  });
}
