// Measures the cost of reserving and settling credits on each database, with every commit flushed to disk: first one
// render at a time, then 16 concurrently. Then what a saved style adds to a request.

import { randomUUID } from 'node:crypto';
import { must } from '../../src/shared/must.ts';
import { createStore, type Store } from '../../src/service/store/store.ts';
import { createPostgres } from '../../test/postgres-server.ts';
import { measureSavedStyle } from './saved-style.ts';
import { postgresDatabase, sqliteDatabase, type TestDatabase } from '../../test/store/databases.ts';

const RENDERS = 1_000;
const WARM_UP_RENDERS = 50;
const CONCURRENCY = 16;

async function measure(name: string, database: TestDatabase): Promise<void> {
  const store = createStore(await database.open());
  const accounts = await Promise.all(Array.from({ length: CONCURRENCY }, async () => await openAccount(store)));
  await run(store, must(accounts[0], 'first account'), WARM_UP_RENDERS);
  for (const concurrency of [1, CONCURRENCY]) {
    const startedAt = performance.now();
    const times = (
      await Promise.all(
        accounts.slice(0, concurrency).map(async (id) => await run(store, id, Math.ceil(RENDERS / concurrency))),
      )
    ).flat();
    const perSecond = times.length / ((performance.now() - startedAt) / 1_000);
    const sorted = times.toSorted((a, b) => a - b);
    const quantile = (share: number): string =>
      must(sorted[Math.floor(sorted.length * share)], 'measured time').toFixed(2);
    console.log(
      `${name}, ${concurrency} concurrent: reserve + settle p50 ${quantile(0.5)} ms, p99 ${quantile(0.99)} ms, ${Math.round(perSecond)} renders/s`,
    );
  }
  const { added, key } = await measureSavedStyle(store, must(accounts[0], 'first account'));
  const ratio = (added / key).toFixed(1);
  console.log(`${name}: a saved style adds ${added.toFixed(2)} ms to a request, ${ratio} times the lookup of its key`);
  await database.remove();
}

async function openAccount(store: Store): Promise<string> {
  const id = randomUUID();
  await store.accounts.create({ id, name: id }, 'system');
  await store.accounts.subscribe(id, 'pro', 'now', 'system');
  return id;
}

/** Reserves and settles one render after the other. Returns the milliseconds each took. */
async function run({ ledger, accounts }: Store, accountId: string, renders: number): Promise<number[]> {
  const period = must((await accounts.find(accountId))?.subscription?.period, 'billing period');
  const reservation = {
    accountId,
    keyId: undefined,
    mode: 'live',
    kind: 'image',
    credits: 1,
    period,
    limit: 1e9,
  } as const;
  const times: number[] = [];
  for (let count = 0; count < renders; count += 1) {
    const renderId = randomUUID();
    const startedAt = performance.now();
    await ledger.reserve({ renderId, ...reservation });
    await ledger.settle(renderId, { outcome: 'delivered', durationMs: 1 });
    times.push(performance.now() - startedAt);
  }
  return times;
}

await measure('SQLite', sqliteDatabase());
const server = await createPostgres(true);
if (server === undefined) console.log('PostgreSQL is not installed; skipped.');
else {
  await measure('PostgreSQL', await postgresDatabase(server.url));
  await server.remove();
}
