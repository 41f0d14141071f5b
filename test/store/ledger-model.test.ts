// Random commands on each database, from a fixed seed. Nothing here crashes, so nothing has to reach a disk:
// SQLite works in memory with `synchronous=off`, and the temporary PostgreSQL runs without fsync. On PostgreSQL several
// databases are used in parallel, because each command takes some round trips.

import { existsSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { describe, expect, inject, it } from 'vitest';
import { NO_POSTGRES } from '../postgres-server.ts';
import { randomCases } from '../random-cases.ts';
import { postgresDatabase, sqliteDatabase, type TestDatabase } from './databases.ts';
import { LedgerModel } from './ledger-model.ts';
import { Random } from './random.ts';

const COMMANDS = randomCases({ usually: 1_500, all: 25_000 });
const SERVERS = 3;
const LANES = 4;
/** With all commands, about 20 seconds each on an idle machine. */
const TIMEOUT_MS = 1_800_000;
const url = inject('postgresUrl');
const memory = existsSync('/dev/shm') ? '/dev/shm' : tmpdir();

async function work(database: TestDatabase, seed: number, commands: number): Promise<number> {
  const engines = await Promise.all(Array.from({ length: SERVERS }, async () => await database.open()));
  const model = new LedgerModel(engines, new Random(seed));
  await model.run(commands);
  await database.remove();
  return model.commands;
}

describe('the ledger behaves like its model', () => {
  it('the ledger behaves like its model on SQLite', { timeout: TIMEOUT_MS }, async () => {
    const done = await work(sqliteDatabase({ synchronous: 'off' }, memory), 20_260_131, COMMANDS);
    expect(done).toBeGreaterThanOrEqual(COMMANDS);
  });

  it.skipIf(url === '')(
    `the ledger behaves like its model on PostgreSQL${url === '' ? `: ${NO_POSTGRES}` : ''}`,
    { timeout: TIMEOUT_MS },
    async () => {
      const lanes = Array.from({ length: LANES }, async (_, lane) => {
        return await work(await postgresDatabase(url), 7_000 + lane, COMMANDS / LANES);
      });
      const done = await Promise.all(lanes);
      expect(done.reduce((sum, each) => sum + each, 0)).toBeGreaterThanOrEqual(COMMANDS);
    },
  );
});
