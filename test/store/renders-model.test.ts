// Random commands and crashes on stored renders, from fixed seeds, on each database.

import { existsSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { describe, expect, inject, it } from 'vitest';
import { NO_POSTGRES } from '../postgres-server.ts';
import { randomCases } from '../random-cases.ts';
import { postgresDatabase, sqliteDatabase, type TestDatabase } from './databases.ts';
import { Random } from './random.ts';
import { RendersModel } from './renders-model.ts';

const TIMEOUT_MS = 600_000;
const COMMANDS = randomCases({ usually: 1_000, all: 2_500 });
/** There are fewer commands, because each takes some round trips. */
const POSTGRES_COMMANDS = randomCases({ usually: 300, all: 700 });
/** Only a run with many crashes says something about them. */
const CRASHES_PER_COMMAND = 1 / 41;
const url = inject('postgresUrl');
const memory = existsSync('/dev/shm') ? '/dev/shm' : tmpdir();

async function work(database: TestDatabase, seed: number, commands: number): Promise<number> {
  const engines = await Promise.all([1, 2, 3].map(async () => await database.open()));
  const model = new RendersModel(engines, new Random(seed));
  await model.run(commands);
  await database.remove();
  return model.crashes;
}

describe('every accepted render ends once and is charged once, whatever crashes', () => {
  it('every accepted render ends once and is charged once on SQLite', { timeout: TIMEOUT_MS }, async () => {
    const crashes = await work(sqliteDatabase({ synchronous: 'off' }, memory), 20_260_201, COMMANDS);
    expect(crashes).toBeGreaterThan(COMMANDS * CRASHES_PER_COMMAND);
  });

  it.skipIf(url === '')(
    `every accepted render ends once and is charged once on PostgreSQL${url === '' ? `: ${NO_POSTGRES}` : ''}`,
    { timeout: TIMEOUT_MS },
    async () => {
      const crashes = await work(await postgresDatabase(url), 7, POSTGRES_COMMANDS);
      expect(crashes).toBeGreaterThan(POSTGRES_COMMANDS * CRASHES_PER_COMMAND);
    },
  );
});
