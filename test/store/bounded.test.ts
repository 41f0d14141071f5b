// On SQLite a statement runs on the event loop, so work on many rows is done in small steps with pauses.

import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { Engine, SqlSession } from '../../src/service/store/engine.ts';
import { createStore } from '../../src/service/store/store.ts';
import { sqliteDatabase } from './databases.ts';
import { LIMITS } from './render-setup.ts';
import { World } from './world.ts';

/** Records the maximum number of rows that one statement has changed. */
function observed(engine: Engine): { readonly engine: Engine; readonly most: () => number } {
  let most = 0;
  const observe = (session: SqlSession): SqlSession => ({
    all: async (sql, parameters) => await session.all(sql, parameters),
    run: async (sql, parameters) => {
      const changed = await session.run(sql, parameters);
      most = Math.max(most, changed);
      return changed;
    },
  });
  const all: Engine = {
    ...observe(engine),
    dialect: engine.dialect,
    transaction: async (work) => await engine.transaction(async (session) => await work(observe(session))),
    close: async () => await engine.close(),
  };
  return { engine: all, most: () => most };
}

/** Counts the turns of the event loop meanwhile. */
async function turnsDuring(work: () => Promise<unknown>): Promise<number> {
  let [turns, isOver] = [0, false];
  const turn = (): void => {
    turns += 1;
    if (!isOver) setImmediate(turn);
  };
  setImmediate(turn);
  await work();
  isOver = true;
  return turns;
}

describe('work on many rows', () => {
  let world: World;
  beforeEach(async () => {
    world = await World.begin(sqliteDatabase({ synchronous: 'off' }));
  });
  afterEach(async () => await world.database.remove());

  it('ends the deliveries of a disabled endpoint a few at a time', async () => {
    const accountId = await world.account();
    const { webhookEndpoints, webhookDeliveries } = world.store;
    await webhookEndpoints.create({ id: 'h', accountId, url: 'https://a.example/', events: [] }, 9, 'cli:x');
    for (let index = 0; index < 120; index += 1) {
      await webhookDeliveries.send(accountId, 'h', { id: `m${index}`, type: 'x', body: '{}' });
    }
    const { engine, most } = observed(world.engine);
    const store = createStore(engine, world.clock, 'here/2/b');
    expect(await store.webhookEndpoints.setEnabled(accountId, 'h', false, 'cli:x')).toBe(true);
    const deliveries = await webhookDeliveries.list(accountId, { limit: 200 });
    expect(deliveries.filter(({ status }) => status === 'failed')).toHaveLength(120);
    expect(most()).toBeLessThanOrEqual(20);
  });

  it('accepts a large batch in one transaction, with pauses', async () => {
    const accountId = await world.account();
    const { period, renews, plan } = await world.subscription(accountId);
    const origin = {
      accountId,
      keyId: undefined,
      mode: 'live',
      batchId: 'b',
      request: '{}',
      plan,
      period,
      renews,
    } as const;
    const renders = Array.from({ length: 100 }, (_, index) => ({
      ...({ ...origin, id: `r${index}`, lane: 'image', asset: undefined, maxRunning: 1 } as const),
    }));
    const limits = { ...LIMITS, queuedRenders: 100 };
    const batch = { id: 'b', accountId, keyId: undefined, mode: 'live' } as const;
    const turns = await turnsDuring(async () => {
      expect(await world.store.renders.accept(renders, { limits, batch })).toEqual({ kind: 'accepted' });
    });
    expect(turns).toBeGreaterThan(3);
    expect(await world.store.renders.list({ accountId }, { limit: 200 })).toHaveLength(100);
  });

  it('reads the plans in use a range of accounts at a time', async () => {
    const one = await world.account('pro');
    const at = world.clock().toISOString();
    const numbers = 'with recursive numbers (n) as (select 1 union all select n + 1 from numbers where n < 1200)';
    await world.engine.run(
      `insert into accounts (id, name, created_at) ${numbers} select 'a' || n, 'A', '${at}' from numbers`,
    );
    await world.engine.run(
      `insert into subscriptions
         (account_id, plan, status, renews, provider, anchor_at, period_starts_at, period_ends_at)
       ${numbers} select 'a' || n, 'free', 'active', 1, 'manual', '${at}', '${at}', '${at}' from numbers`,
    );
    await world.store.accounts.subscribe(one, 'scale', 'next period', 'cli:x');
    const turns = await turnsDuring(async () => {
      expect(await world.store.accounts.plansInUse()).toEqual(['free', 'pro', 'scale']);
    });
    expect(turns).toBeGreaterThan(1);
  });
});
