// Times every statement that a server runs, on a database with 100,000 accounts, 1 million requests and 100,000 renders. On
// SQLite a statement runs on the event loop, so none may take longer than 5 ms. Commits don't wait for the disk here.
//
// npm run bench:statements -- [--postgres] [--scale 0.1] [--seeded FILE]   (FILE keeps the seeded SQLite database)

import { copyFileSync, existsSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { parseArgs } from 'node:util';
import { createStore } from '../../src/service/store/store.ts';
import { createPostgres } from '../../test/postgres-server.ts';
import { postgresDatabase, sqliteDatabase, type TestDatabase } from '../../test/store/databases.ts';
import { seed } from './seed.ts';
import { STEPS } from './steps.ts';
import { TimedEngine } from './timed-engine.ts';

const LIMIT_MS = 5;
const MINUTE_MS = 60_000;

const { values } = parseArgs({
  options: {
    postgres: { type: 'boolean', default: false },
    scale: { type: 'string', default: '1' },
    seeded: { type: 'string' },
    only: { type: 'string', default: '' },
  },
});

async function seededDatabase(create: () => Promise<TestDatabase>): Promise<TestDatabase> {
  const database = await create();
  const file = values.postgres ? undefined : values.seeded;
  if (file !== undefined && existsSync(file)) {
    copyFileSync(file, database.place);
    return database;
  }
  const scale = Number(values.scale);
  const sizes = { accounts: 100_000, requests: 1_000_000, renders: 100_000, queued: 20_000 };
  const { accounts, requests, renders, queued } = sizes;
  const started = performance.now();
  const engine = await database.open();
  await seed(engine, {
    accounts: accounts * scale,
    requests: requests * scale,
    renders: renders * scale,
    queued: queued * scale,
  });
  if (!values.postgres) await engine.all('pragma wal_checkpoint(truncate)');
  console.log(`Seeded in ${((performance.now() - started) / 1e3).toFixed(0)} s.`);
  if (file !== undefined) copyFileSync(database.place, file);
  return database;
}

async function measure(database: TestDatabase): Promise<void> {
  const engine = new TimedEngine(await database.open());
  // Accounts that are purged must have been erased some minutes ago.
  const clock = { ahead: 0 };
  const store = createStore(engine, () => new Date(Date.now() + clock.ahead), 'bench');
  console.log(line('step', ['worst statement', 'longest block', 'total']));
  for (const { name, run } of STEPS.filter((step) => step.name.includes(values.only))) {
    if (name.startsWith('purge')) clock.ahead = 5 * MINUTE_MS;
    const started = performance.now();
    const { worstMs, blockedMs, statement } = await engine.watch(async () => await run(store));
    const times = [worstMs, blockedMs, performance.now() - started].map((ms) => `${ms.toFixed(1)} ms`);
    const missed = worstMs > LIMIT_MS ? `  MISSED: ${statement.replaceAll(/\s+/gu, ' ').slice(0, 80)}` : '';
    console.log(line(name, times) + missed);
  }
}

function line(name: string, columns: readonly string[]): string {
  return name.padEnd(50) + columns.map((column) => column.padStart(17)).join('');
}

const server = values.postgres ? await createPostgres(true) : undefined;
if (values.postgres && server === undefined) throw new Error('PostgreSQL is not installed');
const database = await seededDatabase(async () =>
  server === undefined
    ? sqliteDatabase({ synchronous: 'off' }, existsSync('/dev/shm') ? '/dev/shm' : tmpdir())
    : await postgresDatabase(server.url),
);
try {
  await measure(database);
} finally {
  await database.remove();
  await server?.remove();
}
