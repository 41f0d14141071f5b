// Steps of stored renders, for tests of the store.

import { randomUUID } from 'node:crypto';
import { expect } from 'vitest';
import { must } from '../../src/shared/must.ts';
import type { AcceptOptions, ClaimedRender, NewRender, RenderSuccess } from '../../src/service/store/renders/render.ts';
import type { Store } from '../../src/service/store/store.ts';
import { DAY, LIMIT, type World } from './world.ts';

export const LIMITS = { queuedRenders: 1_000, storedBytes: 1_000_000, serviceBytes: 1e12, testRendersPerDay: 500 };
export const OPTIONS: AcceptOptions = { limits: LIMITS };

/** `world` is the current one; each test has its own. */
export function renderSetup(world: () => World) {
  async function newRender(accountId: string, changes: Partial<NewRender> = {}): Promise<NewRender> {
    const { period, renews, plan } = await world().subscription(accountId);
    return {
      id: randomUUID(),
      accountId,
      keyId: undefined,
      mode: 'live',
      batchId: undefined,
      request: '{}',
      plan,
      period,
      renews,
      lane: 'image',
      asset: undefined,
      maxRunning: 100,
      ...changes,
    };
  }

  async function accepted(accountId: string, changes: Partial<NewRender> = {}): Promise<NewRender> {
    const render = await newRender(accountId, changes);
    expect(await world().store.renders.accept([render], OPTIONS)).toEqual({ kind: 'accepted' });
    return render;
  }

  async function claimed(store: Store = world().store): Promise<ClaimedRender> {
    return must(await store.renders.claim('image'), 'a render that is due');
  }

  async function reserve(
    { attempt, render }: ClaimedRender,
    store: Store = world().store,
    credits = 3,
  ): Promise<boolean> {
    const { id: renderId, accountId, keyId, mode, period } = render;
    const hold = { renderId, accountId, keyId, mode, kind: 'image', credits, period, limit: LIMIT } as const;
    return (await store.ledger.reserve({ ...hold, attempt: attempt.number })).granted;
  }

  function success(renderId: string, changes: Partial<RenderSuccess> = {}): RenderSuccess {
    const expiresAt = new Date(world().clock().getTime() + DAY);
    const output = { name: `outputs/${renderId}.1`, bytes: 700, token: `token-${renderId}`, expiresAt };
    return { output, result: '{"ok":true}', sourceType: 'image', credits: 3, durationMs: 5, ...changes };
  }

  const scopeOf = (accountId: string) => ({ accountId });
  const statusOf = async (accountId: string, id: string): Promise<string | undefined> =>
    (await world().store.renders.find(scopeOf(accountId), id))?.status;

  return { newRender, accepted, claimed, reserve, success, scopeOf, statusOf };
}
