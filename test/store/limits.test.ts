// Rate limits and concurrency limits across servers, on a real PostgreSQL.

import { randomUUID } from 'node:crypto';
import { setTimeout } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest';
import { must } from '../../src/shared/must.ts';
import { createStore, type Store } from '../../src/service/store/store.ts';
import type { Limits } from '../../src/service/store/limits.ts';
import { OutcomeUnknown } from '../../src/service/store/engine.ts';
import { NO_POSTGRES } from '../postgres-server.ts';
import { losingAcknowledgments } from './losing-acknowledgments.ts';
import { postgresDatabase, type TestDatabase } from './databases.ts';

const url = inject('postgresUrl');
if (url === '') console.warn(`skipped: ${NO_POSTGRES}`);

describe.skipIf(url === '')('limits that servers share', () => {
  let database: TestDatabase;
  let servers: Store[];
  let now = Date.now();
  const limits = (index: number): Limits => {
    const found = servers[index]?.limits;
    if (found === undefined) throw new Error('a store on PostgreSQL must have limits');
    return found;
  };
  beforeAll(async () => {
    database = await postgresDatabase(url);
    servers = [];
    for (const name of ['a', 'b']) {
      servers.push(createStore(await database.open(), () => new Date(now), `server/${name}`));
    }
  });
  afterAll(async () => await database.remove());

  it('allow one burst, however it is spread over the servers', async () => {
    const rate = { burst: 50, windowMs: 600_000 };
    const verdicts = await Promise.all(
      Array.from({ length: 100 }, async (_, index) => await limits(index % 2).take('account', rate)),
    );
    const allowed = verdicts.filter((verdict) => verdict.allowed);
    expect(allowed).toHaveLength(50);
    expect(Math.min(...allowed.map(({ remaining }) => remaining))).toBe(0);
    const refused = verdicts.find((verdict) => !verdict.allowed);
    expect(refused?.retryAfterMs).toBeGreaterThan(5_000);
    expect(refused?.retryAfterMs).toBeLessThanOrEqual(12_000);
    expect((await limits(0).take('another account', rate)).remaining).toBe(49);
  });

  it('shared limits count a large request as several', async () => {
    const rate = { burst: 10, windowMs: 600_000 };
    const take = async (index: number, count: number): Promise<readonly [boolean, number]> => {
      const { allowed, remaining } = await limits(index).take('large', rate, count);
      return [allowed, remaining];
    };
    expect(await take(0, 4)).toEqual([true, 6]);
    expect(await take(1, 4)).toEqual([true, 2]);
    expect(await take(0, 4)).toEqual([false, 0]);
    expect(await take(1, 2)).toEqual([true, 0]);
  });

  it('allow another request for one that was given back', async () => {
    const rate = { burst: 2, windowMs: 600_000 };
    const take = async (index: number): Promise<boolean> => (await limits(index).take('returned', rate)).allowed;
    expect([await take(0), await take(0), await take(1)]).toEqual([true, true, false]);
    await limits(1).giveBack('returned', rate);
    expect([await take(0), await take(1)]).toEqual([true, false]);
  });

  it('refill over time', async () => {
    // A busy machine may take long between two requests, and must not refill the bucket meanwhile.
    const rate = { burst: 2, windowMs: 16_000 };
    const take = async (): Promise<boolean> => (await limits(1).take('quick', rate)).allowed;
    expect([await take(), await take(), await take()]).toEqual([true, true, false]);
    await expect.poll(take).toBe(true);
  });

  it('shared limits count a render that begins while the end of another one is written', async () => {
    const account = randomUUID();
    const engine = await database.open();
    await engine.run(`create or replace function be_slow() returns trigger language plpgsql as $$
      begin perform pg_sleep(0.3); return new; end $$`);
    await engine.run(`create or replace trigger slow_end before insert on places for each row
      when (new.account_id = '${account}' and new.running = 1) execute function be_slow()`);
    await limits(0).enter(account, 2);
    const leave = must(await limits(0).enter(account, 2), 'a second place');
    leave();
    expect(await limits(0).enter(account, 2)).toBeDefined();
    // By now, a slow write has ended too.
    await setTimeout(600);
    expect(await limits(1).enter(account, 2)).toBeUndefined();
  });

  it('shared limits forget a render whose start failed although it was written', async () => {
    const account = randomUUID();
    const engine = losingAcknowledgments(await database.open(), 1);
    const broken = must(createStore(engine, () => new Date(now), 'server/c').limits, 'limits of PostgreSQL');
    await expect(broken.enter(account, 1)).rejects.toThrow(OutcomeUnknown);
    await expect.poll(async () => await limits(0).enter(account, 1)).toBeDefined();
  });

  it('shared limits count concurrent renders across all servers, except those of a dead one', async () => {
    const account = randomUUID();
    const entered = await Promise.all(
      Array.from({ length: 20 }, async (_, index) => await limits(index % 2).enter(account, 7)),
    );
    const inside = entered.filter((leave) => leave !== undefined);
    expect(inside).toHaveLength(7);
    inside[0]?.();
    inside[0]?.();
    await expect.poll(async () => (await limits(0).enter(account, 7)) !== undefined).toBe(true);
    expect(await limits(1).enter(account, 7)).toBeUndefined();
    // After half a minute without a heartbeat, the slots of the other server no longer count.
    now += 60_000;
    await servers[1]?.ledger.heartbeat();
    expect(await limits(1).enter(account, 7)).toBeDefined();
  });

  it('delete full buckets', async () => {
    await limits(0).forget();
    const engine = await database.open();
    const [row] = await engine.all("select count(*) as count from rates where name = 'quick'");
    expect(row?.['count']).toBeLessThanOrEqual(1);
  });
});
