// The cost of claiming a stored render, which must not grow with the queue or the history on either database.

import { describe, expect, inject, it } from 'vitest';
import { must } from '../../src/shared/must.ts';
import type { Engine, SqlSession } from '../../src/service/store/engine.ts';
import { integer, type SqlParameters, text } from '../../src/service/store/rows.ts';
import { createStore } from '../../src/service/store/store.ts';
import { NO_POSTGRES } from '../postgres-server.ts';
import { postgresDatabase, sqliteDatabase } from './databases.ts';
import { START, World } from './world.ts';

const url = inject('postgresUrl');
const FORTY_DAYS = 40 * 24 * 3_600_000;

/** Adds renders with numbers from `from` to `to` to an account, in one statement. */
async function addRenders(engine: Engine, accountId: string, status: string, from: number, to: number): Promise<void> {
  const [at, end] = [START.toISOString(), new Date(START.getTime() + FORTY_DAYS).toISOString()];
  const isOver = status === 'succeeded';
  await engine.run(
    `insert into renders (id, account_id, mode, status, lane, request, plan, period_starts_at, period_ends_at, renews,
       max_running, is_due, due_at, created_at, claimed_at, finished_at)
     with recursive numbers (n) as (select ${from} union all select n + 1 from numbers where n < ${to})
     select '${accountId}-${status}-' || n, '${accountId}', 'live', '${status}', 'image', '{}', 'free', '${at}', '${end}', 1,
       100, 1, '${at}', '${at}', ${isOver ? `'${at}', '${at}'` : 'null, null'} from numbers`,
  );
}

/** Returns every reading statement of one claim, with its parameters. */
async function readsOfClaim(world: World): Promise<(readonly [sql: string, parameters: SqlParameters])[]> {
  const reads: (readonly [string, SqlParameters])[] = [];
  const { engine } = world;
  const record = (session: SqlSession): SqlSession => ({
    all: async (sql, parameters = {}) => {
      if (sql.includes('select')) reads.push([sql, parameters]);
      return await session.all(sql, parameters);
    },
    run: async (sql, parameters) => await session.run(sql, parameters),
  });
  const recorded: Engine = {
    ...record(engine),
    dialect: engine.dialect,
    transaction: async (work) => await engine.transaction(async (session) => await work(record(session))),
    close: async () => await engine.close(),
  };
  expect(await createStore(recorded, world.clock, 'here/3/c').renders.claim('image')).toBeDefined();
  return reads;
}

describe('claiming a render', () => {
  it('reads no row of SQLite that it does not find through an index made for it', async () => {
    const world = await World.begin(sqliteDatabase());
    const id = await world.account();
    await addRenders(world.engine, id, 'succeeded', 1, 300);
    await addRenders(world.engine, id, 'queued', 1, 300);
    const plan: string[] = [];
    for (const [sql, parameters] of await readsOfClaim(world)) {
      const rows = await world.engine.all(`explain query plan ${sql}`, parameters);
      plan.push(...rows.map((row) => text(row, 'detail')).filter((line) => /^(?:SCAN|SEARCH) [a-z]\b/u.test(line)));
    }
    expect(plan.length).toBeGreaterThan(3);
    const found = /^SEARCH [a-z] USING (?:COVERING )?INDEX (?<index>\w+)/u;
    const indexes = new Set(plan.map((line) => found.exec(line)?.groups?.['index'] ?? line));
    expect([...indexes].toSorted()).toEqual([
      'renders_by_claim',
      'renders_claimed',
      'renders_queue',
      'sqlite_autoindex_renders_1',
    ]);
    await world.database.remove();
  });

  it.skipIf(url === '')(
    `reads about as many pages of PostgreSQL with 50 times the queue and history${url === '' ? `: ${NO_POSTGRES}` : ''}`,
    async () => {
      const world = await World.begin(await postgresDatabase(url));
      const id = await world.account();
      const pagesRead = async (): Promise<number> => {
        let pages = 0;
        for (const [sql, parameters] of await readsOfClaim(world)) {
          const [row] = await world.engine.all(`explain (analyze, buffers, format json) ${sql}`, parameters);
          const [{ Plan: plan }] = must(row, 'a plan')['QUERY PLAN'] as [{ Plan: Record<string, unknown> }];
          pages += integer(plan, 'Shared Hit Blocks') + integer(plan, 'Shared Read Blocks');
        }
        return pages;
      };
      await addRenders(world.engine, id, 'succeeded', 1, 200);
      // The statistics are from before the queue grew, as they are when many renders arrive at once.
      await world.engine.run('analyze renders');
      await addRenders(world.engine, id, 'queued', 1, 200);
      const few = await pagesRead();
      await addRenders(world.engine, id, 'succeeded', 201, 10_000);
      await world.engine.run('analyze renders');
      expect(await pagesRead()).toBeLessThan(few * 3);
      await addRenders(world.engine, id, 'queued', 201, 10_000);
      expect(await pagesRead()).toBeLessThan(few * 3);
      await world.engine.run('analyze renders');
      expect(await pagesRead()).toBeLessThan(few * 3);
      await world.database.remove();
    },
  );

  it('serves every account when more wait than one claim compares, and a long queue does not hold up the others', async () => {
    const world = await World.begin(sqliteDatabase({ synchronous: 'off' }));
    const busy = await world.account();
    await addRenders(world.engine, busy, 'queued', 1, 400);
    for (let count = 0; count < 249; count += 1) {
      await addRenders(world.engine, await world.account(), 'queued', 1, 1);
    }
    const served: string[] = [];
    for (let count = 0; count < 300; count += 1) {
      served.push(must(await world.store.renders.claim('image'), 'a render').render.accountId);
    }
    expect(new Set(served.slice(0, 250)).size).toBeGreaterThan(225);
    expect(new Set(served).size).toBe(250);
    await world.database.remove();
  });
});
