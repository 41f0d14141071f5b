// What a reservation and its settling cost on each database, every commit on disk. One after the other, then 16 at once.

import { randomUUID } from 'node:crypto';
import type { Store } from '../../src/store/store.ts';
import { createStore } from '../../src/store/sql-store.ts';
import { createPostgres } from '../../test/postgres-server.ts';
import { postgresDatabase, sqliteDatabase, type TestDatabase } from '../../test/store/databases.ts';

const ROUNDS = 1_000;
const AT_ONCE = 16;

async function measure(name: string, database: TestDatabase): Promise<void> {
  const store = createStore(await database.open());
  const accounts = await Promise.all(Array.from({ length: AT_ONCE }, async () => await openAccount(store)));
  await run(store, accounts.slice(0, 1), 50);
  for (const lanes of [1, AT_ONCE]) {
    const began = performance.now();
    const times = (
      await Promise.all(accounts.slice(0, lanes).map(async (id) => await run(store, [id], Math.ceil(ROUNDS / lanes))))
    ).flat();
    const perSecond = times.length / ((performance.now() - began) / 1_000);
    const sorted = times.toSorted((a, b) => a - b);
    const at = (share: number): string => (sorted[Math.floor(sorted.length * share)] ?? 0).toFixed(2);
    console.log(
      `${name}, ${lanes} at once: reserve + settle p50 ${at(0.5)} ms, p99 ${at(0.99)} ms, ${Math.round(perSecond)} renders/s`,
    );
  }
  await database.remove();
}

async function openAccount(store: Store): Promise<string> {
  const id = randomUUID();
  await store.accounts.create({ id, name: id }, 'system');
  await store.accounts.subscribe(id, 'pro', 'now', 'system');
  return id;
}

async function run(
  { ledger, accounts }: Store,
  [accountId = '']: readonly string[],
  rounds: number,
): Promise<number[]> {
  const period = (await accounts.find(accountId))?.subscription?.period;
  if (period === undefined) throw new Error('no subscription');
  const usual = { accountId, keyId: undefined, mode: 'live', kind: 'image', credits: 1, period, limit: 1e9 } as const;
  const times: number[] = [];
  for (let round = 0; round < rounds; round += 1) {
    const renderId = randomUUID();
    const began = performance.now();
    await ledger.reserve({ renderId, ...usual });
    await ledger.settle(renderId, { outcome: 'delivered', durationMs: 1 });
    times.push(performance.now() - began);
  }
  return times;
}

await measure('SQLite', sqliteDatabase());
const server = await createPostgres(true);
if (server === undefined) console.log('PostgreSQL is not installed here.');
else {
  await measure('PostgreSQL', await postgresDatabase(server.url));
  await server.remove();
}
