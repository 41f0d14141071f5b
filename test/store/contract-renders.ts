import { randomUUID } from 'node:crypto';
import { expect, it } from 'vitest';
import { must } from '../../src/shared/must.ts';
import { reconcile } from '../../src/service/store/ledger/reconcile.ts';
import { LIMITS, OPTIONS, renderSetup } from './render-setup.ts';
import { DAY, HOUR, LIMIT, type World } from './world.ts';

const LEASE = 30_000;

export function rendersContract(world: () => World): void {
  const { newRender, accepted, claimed, reserve, success, scopeOf, statusOf } = renderSetup(world);

  it('runs a render from acceptance to success, charged in the period of acceptance', async () => {
    const id = await world().account();
    const asset = { name: 'assets/x', format: 'jpeg', bytes: 400, sha256: 'ab' };
    const { id: renderId, period } = await accepted(id, { asset, request: '{"fields":[]}', keyId: 'key' });
    // The period ends while the render waits.
    world().pass(40 * DAY);
    await world().store.ledger.heartbeat();
    const claim = await claimed();
    expect(claim).toMatchObject({
      attempt: { renderId, number: 1 },
      render: {
        status: 'queued',
        asset,
        request: '{"fields":[]}',
        keyId: 'key',
        period,
        startedAt: undefined,
      },
    });
    await world().store.renders.start(claim.attempt);
    const started = await world().store.renders.find(scopeOf(id), renderId);
    expect(started).toMatchObject({ status: 'rendering', startedAt: world().clock() });
    expect(await reserve(claim)).toBe(true);
    expect(await world().store.renders.renew(claim.attempt, 0.4567)).toBe(true);
    expect(await world().store.renders.find(scopeOf(id), renderId)).toMatchObject({ progress: 0.457 });
    expect(await world().store.renders.succeed(claim.attempt, success(renderId))).toBe(true);
    const ended = await world().store.renders.findByToken(`token-${renderId}`);
    expect(ended).toMatchObject({ id: renderId, status: 'succeeded', progress: 1, credits: 3, result: '{"ok":true}' });
    expect(ended?.output).toMatchObject({ bytes: 700 });
    expect(await world().store.ledger.balance(id, period, LIMIT)).toMatchObject({ used: 3, reserved: 0 });
    expect(await world().store.renders.claim('image')).toBeUndefined();
    expect(await reconcile(world().engine)).toEqual([]);
  });

  it('gives each render to exactly one of many servers that claim at the same time', async () => {
    const id = await world().account();
    for (let count = 0; count < 12; count += 1) await accepted(id);
    const servers = await Promise.all([1, 2, 3, 4].map(async (n) => await world().server(`there/${n}/x`)));
    const claims = await Promise.all(
      Array.from({ length: 24 }, async (_, index) => await servers[index % 4]?.renders.claim('image')),
    );
    const ids = claims.filter((claim) => claim !== undefined).map(({ attempt }) => attempt.renderId);
    // A server that lost a race may come away without a render, so what is left is claimed afterwards.
    for (let left = await servers[0]?.renders.claim('image'); left; left = await servers[0]?.renders.claim('image')) {
      ids.push(left.attempt.renderId);
    }
    expect(new Set(ids).size).toBe(12);
    expect(ids).toHaveLength(12);
  });

  it('lets another server claim a render whose lease has run out, and refuses every change by the first', async () => {
    const id = await world().account();
    const { id: renderId } = await accepted(id);
    const dead = await world().server('there/9/x');
    const first = await claimed(dead);
    expect(await reserve(first, dead)).toBe(true);
    world().pass(LEASE - 1);
    expect(await world().store.renders.claim('image')).toBeUndefined();
    expect(await dead.renders.renew(first.attempt, 0.5)).toBe(true);
    world().pass(LEASE);
    const second = await claimed();
    expect(second.attempt).toEqual({ renderId, number: 2 });
    expect(await dead.renders.renew(first.attempt, 0.6)).toBe(false);
    await dead.renders.giveBack(first.attempt, 0);
    expect(await dead.renders.succeed(first.attempt, success(renderId))).toBe(false);
    expect(await dead.renders.fail(first.attempt, { error: '{}', code: 'overloaded', durationMs: 1 })).toBe(false);
    await expect(reserve(first, dead)).rejects.toThrow('no longer belongs to this attempt');
    // The hold of the first attempt is the hold of the render.
    expect(await reserve(second)).toBe(true);
    expect(await world().balance(id)).toEqual({ used: 0, reserved: 3 });
    expect(await world().store.renders.succeed(second.attempt, success(renderId))).toBe(true);
    expect(await world().store.renders.succeed(second.attempt, success(renderId))).toBe(false);
    expect(await world().balance(id)).toEqual({ used: 3, reserved: 0 });
  });

  it('keeps the hold of a render when its server is swept as dead', async () => {
    const id = await world().account();
    await accepted(id);
    const dead = await world().server('there/9/x');
    await reserve(await claimed(dead), dead);
    world().pass(HOUR);
    expect(await world().store.ledger.sweep((owner) => owner === 'there/9/x')).toEqual([]);
    expect(await world().balance(id)).toEqual({ used: 0, reserved: 3 });
    const again = await claimed();
    expect(await reserve(again)).toBe(true);
    await world().store.renders.succeed(again.attempt, success(again.render.id));
    expect(await world().balance(id)).toEqual({ used: 3, reserved: 0 });
  });

  it('makes the renders of dead processes due at once', async () => {
    const id = await world().account();
    const { id: renderId } = await accepted(id);
    const dead = await world().server('there/9/x');
    await claimed(dead);
    expect(await world().store.renders.releaseLost((owner) => owner === 'elsewhere')).toEqual([]);
    expect(await world().store.renders.releaseLost((owner) => owner === 'there/9/x')).toEqual([renderId]);
    expect(await claimed()).toMatchObject({ attempt: { renderId, number: 2 } });
  });

  it('releases credits and stores the problem when a render fails', async () => {
    const id = await world().account();
    const { id: renderId } = await accepted(id);
    const claim = await claimed();
    await reserve(claim);
    const failure = { error: '{"code":"asset_undecodable"}', code: 'asset_undecodable', durationMs: 4 };
    expect(await world().store.renders.fail(claim.attempt, failure)).toBe(true);
    expect(await world().store.renders.find(scopeOf(id), renderId)).toMatchObject({
      status: 'failed',
      error: failure.error,
      credits: 0,
    });
    expect(await world().balance(id)).toEqual({ used: 0, reserved: 0 });
    const [day] = await world().store.usage.days(id, '2026-01-01', '2026-12-31');
    expect(day).toMatchObject({ outcome: 'asset_undecodable', renders: 1, credits: 0 });
  });

  it('counts a render that failed before its credits were reserved', async () => {
    const id = await world().account();
    await accepted(id);
    await world().store.renders.fail((await claimed()).attempt, {
      error: '{}',
      code: 'asset_unreachable',
      durationMs: undefined,
    });
    const days = await world().store.usage.days(id, '2026-01-01', '2026-12-31');
    expect(days).toMatchObject([{ outcome: 'asset_unreachable', renders: 1, credits: 0 }]);
  });

  it('a render is due again only after the pause when an attempt is given back', async () => {
    const id = await world().account();
    await accepted(id);
    const first = await claimed();
    await reserve(first);
    await world().store.renders.giveBack(first.attempt, 5_000);
    expect(await world().store.renders.claim('image')).toBeUndefined();
    world().pass(5_000);
    expect((await claimed()).attempt.number).toBe(2);
    expect(await world().balance(id)).toEqual({ used: 0, reserved: 3 });
  });

  it('cancels a waiting or running render once, releases its credits and leaves a finished one alone', async () => {
    const { renders } = world().store;
    const id = await world().account();
    const waiting = await accepted(id);
    expect(await renders.cancel(scopeOf(id), waiting.id)).toMatchObject({ status: 'canceled' });
    const running = await accepted(id);
    const claim = await claimed();
    await reserve(claim);
    expect(await renders.cancel(scopeOf(await world().account()), running.id)).toBeUndefined();
    expect(await renders.cancel(scopeOf(id), running.id)).toMatchObject({ status: 'canceled', credits: 0 });
    expect(await renders.renew(claim.attempt, 0.5)).toBe(false);
    expect(await renders.succeed(claim.attempt, success(running.id))).toBe(false);
    await expect(reserve(claim)).rejects.toThrow('no longer belongs to this attempt');
    expect(await world().balance(id)).toEqual({ used: 0, reserved: 0 });
    const done = await accepted(id);
    const last = await claimed();
    await reserve(last);
    await renders.succeed(last.attempt, success(done.id));
    expect(await renders.cancel(scopeOf(id), done.id)).toMatchObject({ status: 'succeeded' });
    expect(await world().balance(id)).toEqual({ used: 3, reserved: 0 });
    expect(await reconcile(world().engine)).toEqual([]);
  });

  it('serves accounts in turn, whatever the length of their queues', async () => {
    const [busy, quiet] = [await world().account(), await world().account()];
    for (let count = 0; count < 5; count += 1) await accepted(busy);
    world().pass(10);
    for (let count = 0; count < 2; count += 1) await accepted(quiet);
    const order: string[] = [];
    for (let count = 0; count < 7; count += 1) {
      world().pass(1);
      const claim = await claimed();
      order.push(claim.render.accountId === busy ? 'busy' : 'quiet');
      await world().store.renders.fail(claim.attempt, { error: '{}', code: 'overloaded', durationMs: 1 });
    }
    expect(order).toEqual(['busy', 'quiet', 'busy', 'quiet', 'busy', 'busy', 'busy']);
  });

  it('runs no more renders of an account at once than its plan allows, and does not count dead ones', async () => {
    const id = await world().account();
    for (let count = 0; count < 3; count += 1) await accepted(id, { maxRunning: 2 });
    await claimed();
    const second = await claimed();
    expect(await world().store.renders.claim('image')).toBeUndefined();
    await world().store.renders.fail(second.attempt, { error: '{}', code: 'overloaded', durationMs: 1 });
    await claimed();
    expect(await world().store.renders.claim('image')).toBeUndefined();
    world().pass(LEASE);
    expect((await claimed()).attempt.number).toBe(2);
  });

  it('keeps the lanes apart', async () => {
    const id = await world().account();
    const video = await accepted(id, { lane: 'video' });
    expect(await world().store.renders.claim('image')).toBeUndefined();
    expect(await world().store.renders.claim('fetch')).toBeUndefined();
    expect(await world().store.renders.claim('video')).toMatchObject({ attempt: { renderId: video.id } });
  });

  it('returns the first render for a repeated idempotency key, and refuses another request with it', async () => {
    const { renders } = world().store;
    const id = await world().account();
    const options = { ...OPTIONS, idempotency: { key: 'live:k', fingerprint: 'fp' } };
    const first = await newRender(id);
    expect(await renders.accept([first], options)).toEqual({ kind: 'accepted' });
    expect(await renders.accept([await newRender(id)], options)).toEqual({ kind: 'replayed', id: first.id });
    const other = { ...OPTIONS, idempotency: { key: 'live:k', fingerprint: 'other' } };
    expect(await renders.accept([await newRender(id)], other)).toEqual({ kind: 'mismatch' });
    expect(await renders.list(scopeOf(id), { limit: 10 })).toHaveLength(1);
    await renders.cancel(scopeOf(id), first.id);
    await renders.remove(scopeOf(id), first.id);
    expect(await renders.accept([await newRender(id)], other)).toEqual({ kind: 'accepted' });
  });

  it('accepts one of many concurrent requests with the same idempotency key', async () => {
    const id = await world().account();
    const servers = await Promise.all([1, 2, 3].map(async (n) => await world().server(`there/${n}/x`)));
    const options = { ...OPTIONS, idempotency: { key: 'k', fingerprint: 'fp' } };
    const results = await Promise.all(
      Array.from({ length: 12 }, async (_, index) =>
        servers[index % 3]?.renders.accept([await newRender(id)], options),
      ),
    );
    expect(results.filter((result) => result?.kind === 'accepted')).toHaveLength(1);
    expect(results.filter((result) => result?.kind === 'replayed')).toHaveLength(11);
  });

  it('does not take a key that a running synchronous request has', async () => {
    const id = await world().account();
    await world().store.idempotency.claim(id, 'k', { fingerprint: 'fp' }, 'r1');
    const options = { ...OPTIONS, idempotency: { key: 'k', fingerprint: 'fp' } };
    expect(await world().store.renders.accept([await newRender(id)], options)).toEqual({ kind: 'in flight' });
  });

  it('an accepted render takes over the key of a synchronous request whose server is dead, and no other', async () => {
    const id = await world().account();
    const dead = await world().server('there/9/x');
    await dead.idempotency.claim(id, 'k', { fingerprint: 'waiting' }, 'r1');
    await world().store.idempotency.claim(id, 'own', { fingerprint: 'waiting' }, 'r2');
    const accept = async (key: string) => {
      const idempotency = { key, fingerprint: 'fp', waitingFingerprint: 'waiting' };
      return await world().store.renders.accept([await newRender(id)], { ...OPTIONS, idempotency });
    };
    world().pass(29_000);
    expect(await accept('k')).toEqual({ kind: 'in flight' });
    world().pass(2_000);
    expect(await accept('k')).toEqual({ kind: 'accepted' });
    expect(await accept('k')).toMatchObject({ kind: 'replayed' });
    expect(await accept('own')).toEqual({ kind: 'in flight' });
  });

  it('a synchronous request with the key of an asynchronous render learns how the render is doing', async () => {
    const { renders, idempotency } = world().store;
    const id = await world().account();
    const options = { ...OPTIONS, idempotency: { key: 'k', fingerprint: 'fp', waitingFingerprint: 'waiting' } };
    const claim = async (fingerprint = 'waiting') =>
      await idempotency.claim(id, 'k', { fingerprint, asyncFingerprint: fingerprint === 'waiting' ? 'fp' : 'x' }, 'r');
    const render = await newRender(id);
    await renders.accept([render], options);
    expect(await claim()).toEqual({ kind: 'rendering' });
    expect(await claim('other')).toEqual({ kind: 'mismatch' });
    const running = await claimed();
    await reserve(running);
    expect(await claim()).toEqual({ kind: 'rendering' });
    await renders.succeed(running.attempt, success(render.id));
    expect(await claim()).toEqual({ kind: 'stored', renderId: render.id });
  });

  it('an asynchronous render without a result leaves its key to the next synchronous request', async () => {
    const { renders, idempotency } = world().store;
    const id = await world().account();
    const options = { ...OPTIONS, idempotency: { key: 'k', fingerprint: 'fp', waitingFingerprint: 'waiting' } };
    const prints = { fingerprint: 'waiting', asyncFingerprint: 'fp' };
    const render = await newRender(id);
    await renders.accept([render], options);
    await renders.cancel(scopeOf(id), render.id);
    expect(await idempotency.claim(id, 'k', prints, 'r1')).toEqual({ kind: 'new' });
    expect(await idempotency.claim(id, 'k', prints, 'r2')).toEqual({ kind: 'in flight' });
    expect(await renders.accept([await newRender(id)], options)).toEqual({ kind: 'in flight' });
    await idempotency.abandon(id, 'k', 'r1');
    expect(await renders.accept([await newRender(id)], options)).toEqual({ kind: 'accepted' });
  });

  it('enforces the limits of queued renders, stored bytes and test renders, also for concurrent requests', async () => {
    const { renders } = world().store;
    const id = await world().account();
    const asset = { name: 'assets/x', format: 'jpeg', bytes: 400, sha256: undefined };
    const limits = { queuedRenders: 3, storedBytes: 1_000, serviceBytes: 1e12, testRendersPerDay: 2 };
    const results = await Promise.all(
      Array.from({ length: 6 }, async () => await renders.accept([await newRender(id)], { limits })),
    );
    expect(results.filter(({ kind }) => kind === 'accepted')).toHaveLength(3);
    // Which of them are refused depends on the order in which the database serves them.
    const refused = results.filter(({ kind }) => kind !== 'accepted');
    expect(refused).toEqual(
      Array.from({ length: 3 }, () => ({ kind: 'over limit', what: 'queuedRenders', actual: 4 })),
    );
    const other = await world().account();
    for (let count = 0; count < 2; count += 1) await renders.accept([await newRender(other, { asset })], { limits });
    const key = { key: 'k', fingerprint: 'fp' };
    const tooMany = { kind: 'over limit', what: 'storedBytes', actual: 1_200 };
    const third = await newRender(other, { asset });
    expect(await renders.accept([third], { limits, idempotency: key })).toEqual(tooMany);
    for (const { id: done } of await renders.list(scopeOf(other), { limit: 2 }))
      await renders.cancel(scopeOf(other), done);
    for (const object of await renders.expiredObjects(10)) await renders.markDeleted(object);
    // The key is free, because nothing was accepted with it.
    expect(await renders.accept([third], { limits, idempotency: key })).toEqual({ kind: 'accepted' });
    const tester = await world().account();
    const batch = [await newRender(tester, { mode: 'test' }), await newRender(tester, { mode: 'test' })];
    expect(await renders.accept(batch, { limits })).toEqual({ kind: 'accepted' });
    expect(await renders.accept([await newRender(tester, { mode: 'test' })], { limits })).toMatchObject({
      what: 'testRendersPerDay',
    });
  });

  it('lists renders newest first, page by page, and only those in scope', async () => {
    const { renders } = world().store;
    const id = await world().account();
    const ids: string[] = [];
    for (let count = 0; count < 7; count += 1) {
      // Some have the same time.
      if (count % 3 === 0) world().pass(1_000);
      const mode = count === 6 ? 'test' : 'live';
      ids.push((await accepted(id, { mode, keyId: count < 2 ? 'one' : 'two' })).id);
    }
    await accepted(await world().account());
    const seen: string[] = [];
    for (let after: string | undefined; ; after = seen.at(-1)) {
      const page = await renders.list(scopeOf(id), { limit: 3, after });
      seen.push(...page.map((render) => render.id));
      if (page.length < 3) break;
    }
    expect(seen.toSorted()).toEqual(ids.toSorted());
    expect(seen[0]).toBe(ids[6]);
    expect(await renders.list({ accountId: id, mode: 'test' }, { limit: 10 })).toHaveLength(1);
    expect(await renders.list({ accountId: id, keyId: 'one' }, { limit: 10 })).toHaveLength(2);
    expect(await renders.find({ accountId: id, mode: 'test' }, must(ids[0], 'an id'))).toBeUndefined();
  });

  it('accepts a batch as a whole or not at all', async () => {
    const { renders } = world().store;
    const id = await world().account();
    const batch = { id: randomUUID(), accountId: id, keyId: 'k', mode: 'live' } as const;
    const all = await Promise.all(
      Array.from({ length: 5 }, async () => await newRender(id, { batchId: batch.id, keyId: 'k' })),
    );
    const idempotency = { key: 'k', fingerprint: 'fp' };
    const tooFew = { ...LIMITS, queuedRenders: 4 };
    expect(await renders.accept(all, { limits: tooFew, batch })).toMatchObject({ kind: 'over limit' });
    expect(await renders.list(scopeOf(id), { limit: 100, batchId: batch.id })).toEqual([]);
    expect(await renders.accept(all, { limits: LIMITS, batch, idempotency })).toEqual({ kind: 'accepted' });
    expect(await renders.accept(all, { limits: LIMITS, batch, idempotency })).toEqual({
      kind: 'replayed',
      id: batch.id,
    });
    expect(await renders.list({ accountId: id, keyId: 'other' }, { limit: 100, batchId: batch.id })).toEqual([]);
    expect(await renders.list(scopeOf(id), { limit: 100, batchId: batch.id })).toHaveLength(5);
  });

  it('stores a render that finished inside its request together with its charge', async () => {
    const { ledger, idempotency, renders } = world().store;
    const id = await world().account();
    const render = await newRender(id);
    await idempotency.claim(id, 'k', { fingerprint: 'fp' }, render.id);
    await ledger.reserve(await world().hold(id, { renderId: render.id, credits: 3 }));
    const remember = { accountId: id, key: 'k', facts: '{}' };
    expect(await renders.addFinished(render, success(render.id), { limits: LIMITS, remember })).toEqual({
      kind: 'added',
    });
    expect(await statusOf(id, render.id)).toBe('succeeded');
    expect(await world().balance(id)).toEqual({ used: 3, reserved: 0 });
    expect(await idempotency.claim(id, 'k', { fingerprint: 'fp' }, 'r2')).toMatchObject({
      kind: 'done',
      renderId: render.id,
    });
    // Without a hold, for example because this server was considered dead, nothing is stored.
    const late = await newRender(id);
    expect(await renders.addFinished(late, success(late.id), OPTIONS)).toEqual({ kind: 'hold gone' });
    expect(await statusOf(id, late.id)).toBeUndefined();
  });
}
