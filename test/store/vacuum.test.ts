import { expect, inject, it } from 'vitest';
import type { MaintainedEngine } from '../../src/service/store/engine.ts';
import { PostgresEngine } from '../../src/service/store/postgres-engine.ts';
import { SqliteEngine } from '../../src/service/store/sqlite-engine.ts';
import { createStore } from '../../src/service/store/store.ts';
import { NO_POSTGRES } from '../postgres-server.ts';
import { postgresDatabase, sqliteDatabase, type TestDatabase } from './databases.ts';

const url = inject('postgresUrl');

async function fillAndEmpty(engine: MaintainedEngine): Promise<void> {
  await engine.run('create table filler (id integer primary key, text text not null)');
  const text = 'x'.repeat(1_000);
  for (let id = 1; id <= 2_000; id += 1)
    await engine.run('insert into filler (id, text) values (:id, :text)', { id, text });
  await engine.run('delete from filler');
}

it('storybar db vacuum gives the space of deleted rows back to the disk on SQLite, while a server uses the database', async () => {
  const database = sqliteDatabase({ synchronous: 'off' });
  const engine = new SqliteEngine(database.place, { synchronous: 'off' });
  const server = createStore(await database.open());
  try {
    await fillAndEmpty(engine);
    await server.accounts.create({ id: 'a', name: 'A' }, 'cli:test');
    const { before, after } = await engine.vacuum();
    expect(before - after).toBeGreaterThan(1_500_000);
    expect(await server.accounts.find('a')).toMatchObject({ name: 'A' });
  } finally {
    await engine.close();
    await database.remove();
  }
});

it.skipIf(url === '')(`storybar db vacuum runs on PostgreSQL${url === '' ? `: ${NO_POSTGRES}` : ''}`, async () => {
  const database: TestDatabase = await postgresDatabase(url);
  const engine = await PostgresEngine.open(database.place, () => undefined);
  try {
    await fillAndEmpty(engine);
    const { before, after } = await engine.vacuum();
    expect(before).toBeGreaterThan(after);
  } finally {
    await engine.close();
    await database.remove();
  }
});
