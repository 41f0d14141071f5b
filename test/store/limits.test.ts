// Rates and places across servers, on a real PostgreSQL.

import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest';
import { createStore } from '../../src/store/sql-store.ts';
import type { Limits, Store } from '../../src/store/store.ts';
import { NO_POSTGRES } from '../postgres-server.ts';
import { postgresDatabase, type TestDatabase } from './databases.ts';

const url = inject('postgresUrl');
if (url === '') console.warn(`skipped: ${NO_POSTGRES}`);

describe.skipIf(url === '')('limits that servers share', () => {
  let database: TestDatabase;
  let fronts: Store[];
  let now = Date.now();
  const limits = (index: number): Limits => {
    const found = fronts[index]?.limits;
    if (found === undefined) throw new Error('PostgreSQL has no limits');
    return found;
  };
  beforeAll(async () => {
    database = await postgresDatabase(url);
    fronts = [];
    for (const name of ['a', 'b']) {
      fronts.push(createStore(await database.open(), () => new Date(now), `front/${name}`));
    }
  });
  afterAll(async () => await database.remove());

  it('let one burst in, however it is spread', async () => {
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
    expect((await limits(0).take('somebody else', rate)).remaining).toBe(49);
  });

  it('fill again with time', async () => {
    const rate = { burst: 2, windowMs: 400 };
    const take = async (): Promise<boolean> => (await limits(1).take('quick', rate)).allowed;
    expect([await take(), await take(), await take()]).toEqual([true, true, false]);
    await new Promise((resolve) => setTimeout(resolve, 450));
    expect([await take(), await take()]).toEqual([true, true]);
  });

  it('count places over all servers, and not those of a dead one', async () => {
    const entered = await Promise.all(
      Array.from({ length: 20 }, async (_, index) => await limits(index % 2).enter('busy', 7)),
    );
    const inside = entered.filter((leave) => leave !== undefined);
    expect(inside).toHaveLength(7);
    inside[0]?.();
    inside[0]?.();
    await expect.poll(async () => (await limits(0).enter('busy', 7)) !== undefined).toBe(true);
    expect(await limits(1).enter('busy', 7)).toBeUndefined();
    // Half a minute without a heartbeat: what the other one held no longer counts.
    now += 60_000;
    await fronts[1]?.ledger.heartbeat();
    expect(await limits(1).enter('busy', 7)).toBeDefined();
  });

  it('forget what says nothing any more', async () => {
    await limits(0).forget();
    const engine = await database.open();
    const [row] = await engine.all("select count(*) as count from rates where name = 'quick'");
    expect(row?.['count']).toBeLessThanOrEqual(1);
  });
});
