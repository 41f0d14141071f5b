import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import Database from 'libsql';
import pg from 'pg';
import { afterAll, describe, expect, inject, it } from 'vitest';
import { createApiKey, hashKey } from '../../src/account/api-key.ts';
import { compatibleFrom, MIGRATIONS } from '../../src/store/migrations.ts';
import { createStore } from '../../src/store/sql-store.ts';
import { createDatabase, NO_POSTGRES } from '../postgres-server.ts';
import { openAt } from './databases.ts';

const url = inject('postgresUrl');
const KEY = createApiKey('live');

/** The schema of version 0.1.0, with some data. */
const VERSION_1 = `
  create table accounts (
    id text primary key,
    name text not null,
    plan text not null,
    state text not null default 'active' check (state in ('active', 'inactive', 'suspended')),
    created_at text not null
  ) strict;
  create table api_keys (
    id text primary key,
    account_id text not null references accounts (id),
    name text not null,
    mode text not null check (mode in ('live', 'test')),
    state text not null default 'active' check (state in ('active', 'suspended', 'revoked')),
    hash text not null unique,
    prefix text not null,
    last_four text not null,
    created_at text not null,
    last_used_at text
  ) strict;
  create index api_keys_by_account on api_keys (account_id);
  insert into accounts (id, name, plan, state, created_at) values
    ('one', 'One', 'pro', 'active', '2025-10-31T12:00:00.000Z'),
    ('two', 'Two', 'free', 'inactive', '2025-11-15T12:00:00.000Z'),
    ('three', 'Three', 'free', 'suspended', '2025-12-01T12:00:00.000Z');
  insert into api_keys (id, account_id, name, mode, state, hash, prefix, last_four, created_at, last_used_at) values
    ('k1', 'one', 'shop', 'live', 'active', '${hashKey(KEY).toString('hex')}', '${KEY.slice(0, 12)}', '${KEY.slice(-4)}',
     '2025-10-31T12:00:00.000Z', '2026-01-01T00:00:00.000Z'),
    ('k2', 'one', 'old', 'live', 'revoked', '00', 'sb_live_aaaa', 'bbbb', '2025-10-31T12:00:00.000Z', null);
`;

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
  execute: async (place, sql) => await onPostgres(place, sql.replaceAll(') strict;', ');')),
  setVersion: (version) =>
    `create table if not exists schema_version (version bigint not null); delete from schema_version;
     insert into schema_version (version) values (${version})`,
  setCompatibleFrom: (version) => `update schema_version set compatible_from = ${version}`,
  skip: url === '',
};

describe.each([
  ['SQLite', SQLITE],
  [`PostgreSQL${url === '' ? `: ${NO_POSTGRES}` : ''}`, POSTGRES],
])('the schema on %s', (_name, { create, execute, setVersion, setCompatibleFrom, skip }) => {
  it.skipIf(skip)('is created once, however often the database is opened', async () => {
    const place = await create();
    const first = await openAt(place);
    await createStore(first).accounts.create({ id: 'a', name: 'A' }, 'cli:test');
    await first.close();
    const second = await openAt(place);
    expect(await createStore(second).accounts.count()).toBe(1);
    await second.close();
  });

  it.skipIf(skip)('is created once by several processes that open the database at the same time', async () => {
    const place = await create();
    const engines = await Promise.all(Array.from({ length: 5 }, async () => await openAt(place)));
    const [one, two] = engines.map((engine) => createStore(engine));
    await one?.accounts.create({ id: 'a', name: 'A' }, 'cli:test');
    expect(await two?.accounts.count()).toBe(1);
    for (const engine of engines) await engine.close();
  });

  it.skipIf(skip)('of a newer program is refused and left unchanged', async () => {
    const place = await create();
    await execute(place, setVersion(MIGRATIONS.length + 1));
    await expect(openAt(place)).rejects.toThrow(
      `has schema ${MIGRATIONS.length + 1}, which needs a program with schema ${MIGRATIONS.length + 1} or newer`,
    );
    await execute(place, setVersion(0));
    await (await openAt(place)).close();
  });

  it.skipIf(skip)(
    'of a newer program is used as it is if it is compatible with this one, and refused if not',
    async () => {
      const place = await create();
      await (await openAt(place)).close();
      await execute(place, `${setVersion(MIGRATIONS.length + 2)}; ${setCompatibleFrom(MIGRATIONS.length)}`);
      const engine = await openAt(place);
      await createStore(engine).accounts.create({ id: 'a', name: 'A' }, 'cli:test');
      await engine.close();
      await execute(place, setCompatibleFrom(MIGRATIONS.length + 1));
      await expect(openAt(place)).rejects.toThrow(
        `has schema ${MIGRATIONS.length + 2}, which needs a program with schema ${MIGRATIONS.length + 1} or newer`,
      );
    },
  );

  it.skipIf(skip)('of version 1 is migrated with all its data', async () => {
    const place = await create();
    await execute(place, `${VERSION_1}; ${setVersion(1)}`);
    const engine = await openAt(place);
    const store = createStore(engine, () => new Date('2026-02-28T12:00:00.000Z'));
    const [one, two, three] = await store.accounts.list();
    expect(one).toMatchObject({
      ...{ id: 'one', name: 'One', state: 'active', createdAt: '2025-10-31T12:00:00.000Z' },
      subscription: {
        ...{ plan: 'pro', renews: true, provider: 'manual' },
        period: { startsAt: new Date('2026-02-28T12:00:00.000Z'), endsAt: new Date('2026-03-31T12:00:00.000Z') },
      },
    });
    expect(two).toMatchObject({ id: 'two', state: 'inactive', subscription: { plan: 'free', status: 'inactive' } });
    expect(three).toMatchObject({ id: 'three', state: 'suspended', subscription: { status: 'active' } });
    expect(await store.keys.find(hashKey(KEY))).toMatchObject({ keyId: 'k1', keyState: 'active', allowedOrigins: [] });
    expect((await store.keys.list('one')).map(({ id, state }) => `${id} ${state}`)).toEqual([
      'k1 active',
      'k2 revoked',
    ]);
    expect(await store.accounts.subscribe('two', 'free', 'now', 'cli:test')).toMatchObject({ status: 'active' });
    await engine.close();
  });
});

it('a migration that fails changes nothing', async () => {
  const place = await SQLITE.create();
  // A table of the second version exists already.
  onSqlite(place, `${VERSION_1}; create table audit (x text) strict; pragma user_version = 1`);
  await expect(openAt(place)).rejects.toThrow('audit already exists');
  onSqlite(place, 'drop table audit');
  const engine = await openAt(place);
  expect(await createStore(engine).accounts.count()).toBe(3);
  await engine.close();
});

describe('compatibleFrom', () => {
  it('is the version of the last migration that older programs cannot cope with', () => {
    const breaking = { common: '' };
    const additive = { common: '', isCompatible: true } as const;
    expect(compatibleFrom([breaking, additive, breaking, additive, additive])).toBe(3);
    expect(compatibleFrom([breaking])).toBe(1);
    expect(compatibleFrom([additive])).toBe(0);
  });
});
