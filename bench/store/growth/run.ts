// How PostgreSQL with many requests behaves: the hourly tasks of two servers that start at the same moment, first with a backlog of
// a day and then an hour later, and the pages that read the rows. No statement may come near the timeout of ten seconds.
//
// npm run bench:growth -- [--requests 300000] [--database URL] [--days-later 1]
// An empty database is filled, and kept if it was named. With one that was measured before, let the servers run some days later, so
// that they have as much to delete again.

import { randomUUID } from 'node:crypto';
import { parseArgs } from 'node:util';
import { must } from '../../../src/shared/must.ts';
import { PostgresEngine } from '../../../src/service/store/postgres-engine.ts';
import { createStore, type Store } from '../../../src/service/store/store.ts';
import { createDatabase, createPostgres } from '../../../test/postgres-server.ts';
import { growthId, seedGrowth } from './seed-growth.ts';
import { type HourlyTasks, hourlyTasks } from './hourly-tasks.ts';
import { PAGES } from './pages.ts';
import { StatementTimes } from './statement-times.ts';

const HOUR_MS = 3_600_000;
const SERVERS = 2;
const SHOWN_STATEMENTS = 8;
const PROBE_PAUSE_MS = 100;
/** Requests per account, and requests per hold. */
const REQUESTS_PER_ACCOUNT = 1_500;
const REQUESTS_PER_HOLD = 3;

const { values } = parseArgs({
  options: {
    requests: { type: 'string', default: '300000' },
    database: { type: 'string' },
    'days-later': { type: 'string', default: '0' },
  },
});

/** The clock of the servers, which this program moves. */
const clock = { aheadMs: Number(values['days-later']) * 24 * HOUR_MS };
const { now } = Date;
Date.now = () => now() + clock.aheadMs;

interface Server {
  readonly engine: StatementTimes;
  readonly store: Store;
  readonly tasks: HourlyTasks;
}

async function openServer(url: string, index: number): Promise<Server> {
  const engine = new StatementTimes(await PostgresEngine.open(url, () => undefined));
  const store = createStore(engine, () => new Date(Date.now()), `server-${index}`);
  return { engine, store, tasks: await hourlyTasks(store) };
}

async function measurePages({ engine, store }: Server): Promise<void> {
  console.log(row('page', ['first', 'again', 'worst statement', 'statements']));
  for (const { name, read } of PAGES) {
    engine.take();
    const first = await timed(async () => await read(store, growthId('account', 0)));
    const statements = engine.take();
    const again = await timed(async () => await read(store, growthId('account', 0)));
    const count = statements.reduce((sum, each) => sum + each.count, 0);
    console.log(row(name, [ms(first), ms(again), ms(statements[0]?.worstMs ?? 0), String(count)]));
  }
}

async function measureHour(title: string, servers: readonly Server[]): Promise<void> {
  for (const { engine } of servers) engine.take();
  const quiet = await probe(must(servers[0], 'a server').store, wait(20 * PROBE_PAUSE_MS));
  let busy: number[] = [];
  const seconds = await timed(async () => {
    const all = Promise.all(servers.map(async ({ tasks }) => await tasks.run()));
    busy = await probe(must(servers[0], 'a server').store, all);
    await all;
  });
  console.log(`\n${title}: ${(seconds / 1e3).toFixed(1)} s`);
  for (const [index, { engine, tasks }] of servers.entries()) {
    const times = engine.take();
    const count = times.reduce((sum, each) => sum + each.count, 0);
    console.log(`server ${index + 1}: ${count} statements, failures: ${tasks.failures.join('; ') || 'none'}`);
    console.log(row('  statement', ['worst', 'mean', 'count']));
    for (const { sql, worstMs, totalMs, count: runs } of times.slice(0, SHOWN_STATEMENTS))
      console.log(row(`  ${sql.slice(0, 90)}`, [ms(worstMs), ms(totalMs / runs), String(runs)]));
  }
  console.log(`reserve and settle: ${quantiles(quiet)} before, ${quantiles(busy)} meanwhile`);
}

/** Reserves and settles credits from time to time until the promise ends. Returns the milliseconds that each took. */
async function probe({ accounts, ledger }: Store, end: Promise<unknown>): Promise<number[]> {
  const accountId = growthId('account', 1);
  const period = must((await accounts.find(accountId))?.subscription?.period, 'billing period');
  const hold = { accountId, keyId: undefined, mode: 'live', kind: 'image', credits: 1, period, limit: 1e9 } as const;
  const times: number[] = [];
  const state = { isOver: false };
  void end.finally(() => {
    state.isOver = true;
  });
  while (!state.isOver) {
    const renderId = randomUUID();
    const started = performance.now();
    await ledger.reserve({ renderId, ...hold });
    await ledger.settle(renderId, { outcome: 'delivered', durationMs: 1 });
    times.push(performance.now() - started);
    await wait(PROBE_PAUSE_MS);
  }
  return times;
}

async function wait(milliseconds: number): Promise<void> {
  await new Promise((resolve) => setTimeout(resolve, milliseconds));
}

async function timed(work: () => Promise<unknown>): Promise<number> {
  const started = performance.now();
  await work();
  return performance.now() - started;
}

function quantiles(times: readonly number[]): string {
  const sorted = times.toSorted((a, b) => a - b);
  const at = (share: number): string => ms(must(sorted[Math.floor((sorted.length - 1) * share)], 'measured time'));
  return `p50 ${at(0.5)}, p99 ${at(0.99)}, worst ${at(1)}`;
}

function ms(milliseconds: number): string {
  return `${milliseconds.toFixed(1)} ms`;
}

function row(name: string, columns: readonly string[]): string {
  return name.padEnd(94) + columns.map((column) => column.padStart(16)).join('');
}

async function prepared(url: string): Promise<void> {
  const engine = await PostgresEngine.open(url, () => undefined);
  const isSeeded = (await engine.all('select id from accounts limit 1')).length > 0;
  // Servers would distrust a clock that is days ahead, and tasks would look only at what happened since the last run.
  for (const table of ['trusted_time', 'shared_tasks']) await engine.run(`delete from ${table}`);
  await engine.close();
  if (isSeeded) return;
  const requests = Number(values.requests);
  const sizes = { requests, holds: requests / REQUESTS_PER_HOLD, accounts: requests / REQUESTS_PER_ACCOUNT };
  const time = await timed(async () => await seedGrowth(url, sizes));
  console.log(`Seeded ${requests} requests in ${(time / 1e3).toFixed(0)} s.`);
}

const postgres = values.database === undefined ? await createPostgres(true) : undefined;
const url = values.database ?? (await createDatabase(must(postgres, 'an installation of PostgreSQL').url));
await prepared(url);
const servers: Server[] = [];
for (let index = 0; index < SERVERS; index += 1) servers.push(await openServer(url, index));
try {
  await measureHour('First housekeeping, with a backlog of a day', servers);
  clock.aheadMs += HOUR_MS;
  await measureHour('Housekeeping an hour later', servers);
  console.log('\nPages of the account with the most requests, after housekeeping');
  await measurePages(must(servers[0], 'a server'));
} finally {
  for (const { tasks, engine } of servers) {
    await tasks.remove();
    await engine.close();
  }
  await postgres?.remove();
}
