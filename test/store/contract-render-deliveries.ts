import { expect, it } from 'vitest';
import { must } from '../../src/shared/must.ts';
import type { Engine } from '../../src/service/store/engine.ts';
import type { ClaimedRender } from '../../src/service/store/renders/render.ts';
import { createStore, type Store } from '../../src/service/store/store.ts';
import { LIMITS, renderSetup } from './render-setup.ts';
import { DAY, DELIVERED, FAILED, type World } from './world.ts';

const RECEIVER = 'https://a.example';

const FAILURE = { error: '{"code":"delivery_failed"}', code: 'delivery_failed', durationMs: 5, result: '{"try":3}' };

export function renderDeliveriesContract(world: () => World): void {
  const { newRender, accepted, claimed, reserve, success, scopeOf } = renderSetup(world);

  /** A render whose file is due to be sent, and the claim of the server that sends it. */
  async function sending(accountId: string, credits = 3): Promise<ClaimedRender> {
    const { renders } = world().store;
    const { id } = await accepted(accountId, { target: 'targets/x', receiver: RECEIVER });
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
    await accepted(id, { maxRunning: 1, target: 'targets/y', receiver: RECEIVER });
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
    expect(await renders.deliveries.fail(lost.attempt, { ...FAILURE, isBroken: false })).toBeUndefined();
    expect(await other.renders.deliveries.succeed(claim.attempt, delivered)).toEqual({ credits: 3, hadHold: true });
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

  it('a delivery that failed is free if the server is the cause, and counts as a broken delivery otherwise', async () => {
    const { renders, ledger } = world().store;
    const id = await world().account();
    const ours = await sending(id, 1);
    const free = { credits: 0, hadHold: true };
    expect(await renders.deliveries.fail(ours.attempt, { ...FAILURE, isBroken: false })).toEqual(free);
    expect(await find(id, ours)).toMatchObject({ status: 'failed', credits: 0, error: FAILURE.error });
    const { period } = await world().subscription(id);
    expect(await ledger.deliveries(id, period)).toMatchObject({ brokenFree: 0, brokenCharged: 0 });
    const ends: unknown[] = [];
    let last = ours;
    for (let count = 0; count < 21; count += 1) {
      last = await sending(id, 1);
      ends.push(await renders.deliveries.fail(last.attempt, { ...FAILURE, isBroken: true }));
    }
    expect(ends).toEqual([...Array.from({ length: 20 }, () => free), { credits: 1, hadHold: true }]);
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
      const render = await newRender(id, { target: 'targets/x', receiver: RECEIVER });
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
    await other.renders.deliveries.fail(claim.attempt, { ...FAILURE, isBroken: false });
    // Nothing was charged, so the same request may try again.
    const second = await add();
    const again = must(await renders.claim('put'), 'the file');
    await renders.deliveries.succeed(again.attempt, { result: '{}', durationMs: 7 });
    expect(await claimKey('r3')).toEqual({ kind: 'done', renderId: second.id, facts: '{}' });
    expect(first.id).not.toBe(second.id);
    expect(await world().balance(id)).toEqual({ used: 3, reserved: 0 });
  });

  /** Another server, which stops after each statement that begins with `sql` until `then` has ended. */
  async function serverThatPauses(sql: string, then: () => Promise<unknown>): Promise<Store> {
    const engine = await world().database.open();
    const paused: Engine = {
      dialect: engine.dialect,
      all: async (statement, parameters) => {
        const rows = await engine.all(statement, parameters);
        if (statement.trim().startsWith(sql)) await then();
        return rows;
      },
      run: async (statement, parameters) => await engine.run(statement, parameters),
      transaction: async (work) => await engine.transaction(work),
      close: async () => await engine.close(),
    };
    return createStore(paused, world().clock, 'there/2/x');
  }

  /** The sweep has found a hold of a dead server, and hasn't released it yet. */
  const FOUND_HOLDS = 'select id from holds where owner';

  it('the sweep does not release a hold that a delivery adopts after the sweep has found it', async () => {
    const { renders, ledger } = world().store;
    const id = await world().account();
    const render = await newRender(id, { target: 'targets/x', receiver: RECEIVER });
    await ledger.reserve(await world().hold(id, { renderId: render.id, credits: 3 }));
    world().pass(60_000);
    const additions: unknown[] = [];
    const sweeper = await serverThatPauses(FOUND_HOLDS, async () => {
      additions.push(await renders.deliveries.add(render, success(render.id), { limits: LIMITS }));
    });
    expect(await sweeper.ledger.sweep()).toEqual([]);
    expect(additions).toEqual([{ kind: 'added' }]);
    expect(await world().balance(id)).toEqual({ used: 0, reserved: 3 });
    const claim = must(await sweeper.renders.claim('put'), 'the file');
    const end = await sweeper.renders.deliveries.succeed(claim.attempt, { result: '{}', durationMs: 7 });
    expect(end).toEqual({ credits: 3, hadHold: true });
    expect(await world().balance(id)).toEqual({ used: 3, reserved: 0 });
  });

  it('a file that is handed over while its render is being claimed again is not rendered twice', async () => {
    const { renders } = world().store;
    const id = await world().account();
    const render = await accepted(id, { target: 'targets/x', receiver: RECEIVER });
    const slow = await claimed();
    await reserve(slow);
    world().pass(60_000);
    const other = await serverThatPauses('with recursive names', async () => {
      await renders.deliveries.handOver(slow.attempt, success(render.id));
    });
    expect(await other.renders.claim('image')).toBeUndefined();
    expect(await other.renders.claim('put')).toMatchObject({ render: { id: render.id } });
  });

  it('the sweep leaves the holds and keys of a server that renews its lease after the sweep has found them', async () => {
    const { ledger, idempotency } = world().store;
    const id = await world().account();
    const hold = await world().hold(id, { credits: 3 });
    await idempotency.claim(id, 'k', { fingerprint: 'fp' }, hold.renderId);
    await ledger.reserve(hold);
    world().pass(60_000);
    const sweeper = await serverThatPauses(FOUND_HOLDS, async () => await ledger.heartbeat());
    expect(await sweeper.ledger.sweep()).toEqual([]);
    expect(await sweeper.idempotency.claim(id, 'k', { fingerprint: 'fp' }, 'r2')).toEqual({ kind: 'in flight' });
    const remember = { accountId: id, key: 'k', facts: '{}' };
    expect(await ledger.settle(hold.renderId, DELIVERED, remember)).toBe(true);
    expect(await world().balance(id)).toEqual({ used: 3, reserved: 0 });
  });

  it('a request can not release the hold of its delivery, even if it does not know that the delivery was added', async () => {
    const { renders, ledger } = world().store;
    const id = await world().account();
    const render = await newRender(id, { target: 'targets/x', receiver: RECEIVER });
    await ledger.reserve(await world().hold(id, { renderId: render.id, credits: 3 }));
    await renders.deliveries.add(render, success(render.id), { limits: LIMITS });
    expect(await ledger.release(render.id, FAILED)).toBe(false);
    expect(await ledger.breakOff(render.id, 5)).toBeUndefined();
    expect(await world().balance(id)).toEqual({ used: 0, reserved: 3 });
  });

  it('a delivery whose hold is lost ends with what the receiver has, and without a charge', async () => {
    const { renders } = world().store;
    const id = await world().account();
    const [delivered, failed] = [await sending(id), await sending(id)];
    await world().engine.run("update holds set state = 'released'");
    const lost = { credits: 0, hadHold: false };
    expect(await renders.deliveries.succeed(delivered.attempt, { result: '{}', durationMs: 7 })).toEqual(lost);
    expect(await find(id, delivered)).toMatchObject({ status: 'succeeded', credits: 0 });
    expect(await renders.deliveries.fail(failed.attempt, { ...FAILURE, isBroken: true })).toEqual(lost);
    expect(await find(id, failed)).toMatchObject({ status: 'failed', credits: 0 });
    world().pass(DAY);
    expect(await renders.claim('put')).toBeUndefined();
  });

  it('at most 4 files of an account are sent to one receiver at a time, and 16 to all of them', async () => {
    const { renders } = world().store;
    const [id, other] = [await world().account(), await world().account()];
    const ready = async (accountId: string, receiver: string): Promise<string> => {
      const render = await accepted(accountId, { target: 'targets/x', receiver });
      const claim = await claimed();
      await reserve(claim, world().store, 1);
      await renders.deliveries.handOver(claim.attempt, success(render.id));
      return render.id;
    };
    const claimAll = async (): Promise<ClaimedRender[]> => {
      const claims: ClaimedRender[] = [];
      for (;;) {
        const claim = await renders.claim('put');
        if (claim === undefined) return claims;
        claims.push(claim);
      }
    };
    const first = await ready(id, 'https://silent.example');
    world().pass(1);
    for (let count = 0; count < 5; count += 1) await ready(id, 'https://silent.example');
    await ready(id, 'https://fast.example');
    await ready(other, 'https://silent.example');
    const claims = await claimAll();
    expect(claims.filter(({ render }) => render.accountId === id)).toHaveLength(5);
    expect(claims.filter(({ render }) => render.accountId === other)).toHaveLength(1);
    // A file that waits for its next try takes no place.
    const slow = claims.find(({ render }) => render.id === first);
    await renders.deliveries.retry(must(slow, 'the first file').attempt, '{}', 20 * 60_000);
    expect(await claimAll()).toHaveLength(1);
    for (let count = 0; count < 20; count += 1) await ready(id, `https://${count}.example`);
    expect(await claimAll()).toHaveLength(16 - 5);
  });

  it('a pause of 20 minutes is not taken for a clock that was set back', async () => {
    const { renders } = world().store;
    const id = await world().account();
    const claim = await sending(id);
    await renders.deliveries.retry(claim.attempt, '{}', 20 * 60_000);
    expect(await renders.claim('put')).toBeUndefined();
    world().pass(20 * 60_000 - 1);
    expect(await renders.claim('put')).toBeUndefined();
    world().pass(1);
    expect(await renders.claim('put')).toMatchObject({ render: { id: claim.render.id } });
  });

  it('a file is not added when its hold is gone or its account has no room', async () => {
    const { renders, ledger } = world().store;
    const id = await world().account();
    const render = await newRender(id, { target: 'targets/x', receiver: RECEIVER });
    expect(await renders.deliveries.add(render, success(render.id), { limits: LIMITS })).toEqual({ kind: 'hold gone' });
    await ledger.reserve(await world().hold(id, { renderId: render.id, credits: 3 }));
    const limits = { ...LIMITS, storedBytes: 1 };
    expect(await renders.deliveries.add(render, success(render.id), { limits })).toMatchObject({ what: 'storedBytes' });
    expect(await renders.find(scopeOf(id), render.id)).toBeUndefined();
  });
}
