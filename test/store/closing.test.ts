import { describe, expect, inject, it } from 'vitest';
import { NO_POSTGRES } from '../postgres-server.ts';
import { postgresDatabase, sqliteDatabase, type TestDatabase } from './databases.ts';

const url = inject('postgresUrl');

describe.each([
  ['SQLite', async (): Promise<TestDatabase> => sqliteDatabase(), false],
  [`PostgreSQL${url === '' ? `: ${NO_POSTGRES}` : ''}`, async () => await postgresDatabase(url), url === ''],
])('an engine on %s', (_name, create, skip) => {
  it.skipIf(skip)('an engine can be closed more than once', async () => {
    const database = await create();
    const engine = await database.open();
    await engine.all('select 1 as one');
    await engine.close();
    await expect(engine.close()).resolves.toBeUndefined();
    await database.remove();
  });
});
