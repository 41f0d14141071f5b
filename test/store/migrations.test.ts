import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import Database from 'libsql';
import pg from 'pg';
import { afterAll, describe, expect, inject, it } from 'vitest';
import { compatibleFrom, SCHEMA } from '../../src/service/store/migrations.ts';
import { createStore } from '../../src/service/store/store.ts';
import { createDatabase, NO_POSTGRES } from '../postgres-server.ts';
import { openAt } from './databases.ts';

const url = inject('postgresUrl');

async function onPostgres(place: string, sql: string): Promise<void> {
  const client = new pg.Client({ connectionString: place });
  await client.connect();
  await client.query(sql);
  await client.end();
}

function onSqlite(place: string, sql: string): void {
  const database = new Database(place);
  database.exec(sql);
  database.close();
}

interface Kind {
  readonly create: () => Promise<string>;
  readonly execute: (place: string, sql: string) => Promise<void>;
  /** The statement that sets the version of the schema. */
  readonly setVersion: (version: number) => string;
  /** Sets the oldest version of programs that can use the database. */
  readonly setCompatibleFrom: (version: number) => string;
  readonly skip: boolean;
}

const folder = mkdtempSync(path.join(tmpdir(), 'storybar-migrations-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));
let files = 0;

const SQLITE: Kind = {
  create: async () => path.join(folder, `${(files += 1)}.db`),
  execute: async (place, sql) => onSqlite(place, sql),
  setVersion: (version) => `pragma user_version = ${version}`,
  setCompatibleFrom: (version) => `update schema_version set compatible_from = ${version}`,
  skip: false,
};
const POSTGRES: Kind = {
  create: async () => await createDatabase(url),
  execute: onPostgres,
  setVersion: (version) =>
    `create table if not exists schema_version (version bigint not null, compatible_from bigint);
     delete from schema_version; insert into schema_version values (${version}, ${version})`,
  setCompatibleFrom: (version) => `update schema_version set compatible_from = ${version}`,
  skip: url === '',
};

describe.each([
  ['SQLite', SQLITE],
  [`PostgreSQL${url === '' ? `: ${NO_POSTGRES}` : ''}`, POSTGRES],
])('the schema on %s', (_name, { create, execute, setVersion, setCompatibleFrom, skip }) => {
  it.skipIf(skip)('the schema is created once, however often the database is opened', async () => {
    const place = await create();
    const first = await openAt(place);
    await createStore(first).accounts.create({ id: 'a', name: 'A' }, 'cli:test');
    await first.close();
    const second = await openAt(place);
    expect(await createStore(second).accounts.count()).toBe(1);
    await second.close();
  });

  it.skipIf(skip)(
    'the schema is created once by several processes that open the database at the same time',
    async () => {
      const place = await create();
      const engines = await Promise.all(Array.from({ length: 5 }, async () => await openAt(place)));
      const [one, two] = engines.map((engine) => createStore(engine));
      await one?.accounts.create({ id: 'a', name: 'A' }, 'cli:test');
      expect(await two?.accounts.count()).toBe(1);
      for (const engine of engines) await engine.close();
    },
  );

  it.skipIf(skip)('the schema of a newer program is refused and left unchanged', async () => {
    const place = await create();
    await execute(place, setVersion(SCHEMA.version + 1));
    await expect(openAt(place)).rejects.toThrow(
      `has schema ${SCHEMA.version + 1}, which needs a program with schema ${SCHEMA.version + 1} or newer`,
    );
    await execute(place, setVersion(0));
    await (await openAt(place)).close();
  });

  it.skipIf(skip)(
    'the schema of a newer program is used as it is if it is compatible with this one, and refused if not',
    async () => {
      const place = await create();
      await (await openAt(place)).close();
      await execute(place, `${setVersion(SCHEMA.version + 2)}; ${setCompatibleFrom(SCHEMA.version)}`);
      const engine = await openAt(place);
      await createStore(engine).accounts.create({ id: 'a', name: 'A' }, 'cli:test');
      await engine.close();
      await execute(place, setCompatibleFrom(SCHEMA.version + 1));
      await expect(openAt(place)).rejects.toThrow(
        `has schema ${SCHEMA.version + 2}, which needs a program with schema ${SCHEMA.version + 1} or newer`,
      );
    },
  );

  it.skipIf(skip).each([1, 14, 16, 33, 99])('the schema %d of no released version is refused', async (version) => {
    const place = await create();
    await execute(place, setVersion(version));
    await expect(openAt(place)).rejects.toThrow(
      `has schema ${version} of a version that was never released, so it can't be upgraded. Only databases of version 0.2.0`,
    );
  });
});

it('a migration that fails changes nothing', async () => {
  const place = await SQLITE.create();
  onSqlite(place, 'create table audit (x text) strict');
  await expect(openAt(place)).rejects.toThrow('audit already exists');
  onSqlite(place, 'drop table audit');
  const engine = await openAt(place);
  expect(await createStore(engine).accounts.count()).toBe(0);
  await engine.close();
});

describe('compatibleFrom', () => {
  it('compatibleFrom is the version of the last migration that older programs cannot cope with', () => {
    const baseline = compatibleFrom([]);
    const breaking = { common: '' };
    const additive = { common: '', isCompatible: true } as const;
    expect(compatibleFrom([breaking, additive, breaking, additive, additive])).toBe(baseline + 3);
    expect(compatibleFrom([breaking])).toBe(baseline + 1);
    expect(compatibleFrom([additive])).toBe(baseline);
  });
});
