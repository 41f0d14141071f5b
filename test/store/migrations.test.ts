import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import Database from 'libsql';
import pg from 'pg';
import { afterAll, describe, expect, inject, it } from 'vitest';
import { createApiKey, hashKey } from '../../src/account/api-key.ts';
import { compatibleFrom, MIGRATIONS } from '../../src/store/migrations.ts';
import { statementsOf } from '../../src/store/migration.ts';
import { createStore } from '../../src/store/store.ts';
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

const AT = '2026-01-31T10:00:00.000Z';

/** Returns rows as programs before the renaming of tables wrote them. */
function rowsWithSentinels(): string {
  const later = '2026-02-28T10:00:00.000Z';
  const user = (id: string, email: string, unconfirmed: string, hash: string, hasPassword: number): string =>
    `insert into users (id, account_id, email, role, password_hash, created_at, unconfirmed_email, has_password)
       values ('${id}', 'a', '${email}', 'member', '${hash}', '${AT}', ${unconfirmed}, ${hasPassword})`;
  const hold = (id: string, owner: string): string =>
    `insert into renders (id, account_id, mode, kind, credits, period_starts_at, state, outcome, owner, created_at)
       values ('${id}', 'a', 'live', 'image', 1, '${AT}', 'reserved', 'running', '${owner}', '${AT}')`;
  const request = (id: string, code: string): string =>
    `insert into requests (id, account_id, at, path, status, code, duration_ms, credits, bytes_in, bytes_out, faults)
       values ('${id}', 'a', '${AT}', 'x', 200, '${code}', 1, 1, 1, 1, '[]')`;
  return [
    `insert into accounts (id, name, created_at) values ('a', 'A', '${AT}')`,
    `insert into owners (id, alive_until) values ('renders', '9999-12-31T23:59:59.999Z')`,
    hold('stored', 'renders'),
    hold('held', 'host/1/x'),
    `insert into idempotency (account_id, key, fingerprint, render_id, owner, state, facts, expires_at)
       values ('a', 'k', 'f', 'stored', 'renders', 'done', '{}', '${later}')`,
    `insert into render_jobs (id, account_id, mode, status, lane, request, plan, period_starts_at, period_ends_at, renews,
         max_running, asset, asset_format, asset_bytes, has_asset, due_at, created_at)
       values ('stored', 'a', 'live', 'queued', 'image', '{}', 'free', '${AT}', '${later}', 1, 1, 'assets/stored', 'png', 9, 1,
         '', '${AT}')`,
    user('ann', 'ann@example.com', 'null', 'hash', 1),
    user('bob', 'bob@example.com', 'null', 'random', 0),
    user('eve', 'unconfirmed:1', "'eve@example.com'", 'hash', 1),
    `insert into linked_identities (provider, subject, user_id, email, created_at, last_used_at)
       values ('google', '1', 'bob', 'bob@example.com', '${AT}', '${AT}')`,
    `insert into sessions (hash, user_id, created_at, idle_until, ends_at) values ('s', 'ann', '${AT}', '${later}', '${later}')`,
    request('r1', 'rate_limited'),
    request('r2', ''),
    `insert into webhook_messages (id, account_id, type, body, created_at) values ('m', 'a', 'x', '{}', '${AT}')`,
    `insert into webhook_deliveries (id, account_id, message_id, lane, url, status, due_at, created_at)
       values ('d', 'a', 'm', 'l', 'https://a.example/', 'pending', '0${AT}', '${AT}')`,
  ].join('; ');
}

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
  readonly dialect: 'sqlite' | 'postgres';
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
  dialect: 'sqlite',
  create: async () => path.join(folder, `${(files += 1)}.db`),
  execute: async (place, sql) => onSqlite(place, sql),
  setVersion: (version) => `pragma user_version = ${version}`,
  setCompatibleFrom: (version) => `update schema_version set compatible_from = ${version}`,
  skip: false,
};
const POSTGRES: Kind = {
  dialect: 'postgres',
  create: async () => await createDatabase(url),
  execute: async (place, sql) => await onPostgres(place, statementsOf({ common: sql }, 'postgres')),
  setVersion: (version) =>
    `create table if not exists schema_version (version bigint not null); delete from schema_version;
     insert into schema_version (version) values (${version})`,
  setCompatibleFrom: (version) => `update schema_version set compatible_from = ${version}`,
  skip: url === '',
};

describe.each([
  ['SQLite', SQLITE],
  [`PostgreSQL${url === '' ? `: ${NO_POSTGRES}` : ''}`, POSTGRES],
])('the schema on %s', (_name, { dialect, create, execute, setVersion, setCompatibleFrom, skip }) => {
  /** A database as the last program before this change left it, with some rows. */
  const createBefore = async (change: string, rows: string): Promise<string> => {
    const place = await create();
    const version = MIGRATIONS.findIndex((migration) => statementsOf(migration, dialect).includes(change));
    const run =
      dialect === 'sqlite'
        ? async (sql: string) => onSqlite(place, sql)
        : async (sql: string) => await onPostgres(place, sql);
    for (const migration of MIGRATIONS.slice(0, version)) await run(statementsOf(migration, dialect));
    await run(`${rows}; ${setVersion(version)}`);
    return place;
  };

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
    await execute(place, setVersion(MIGRATIONS.length + 1));
    await expect(openAt(place)).rejects.toThrow(
      `has schema ${MIGRATIONS.length + 1}, which needs a program with schema ${MIGRATIONS.length + 1} or newer`,
    );
    await execute(place, setVersion(0));
    await (await openAt(place)).close();
  });

  it.skipIf(skip)(
    'the schema of a newer program is used as it is if it is compatible with this one, and refused if not',
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

  it.skipIf(skip)('the schema of version 1 is migrated with all its data', async () => {
    const place = await create();
    await execute(place, `${VERSION_1}; ${setVersion(1)}`);
    const engine = await openAt(place);
    const store = createStore(engine, () => new Date('2026-02-28T12:00:00.000Z'));
    const [one, two, three] = await store.accounts.list();
    expect(one).toMatchObject({
      id: 'one',
      name: 'One',
      state: 'active',
      createdAt: '2025-10-31T12:00:00.000Z',
      subscription: {
        plan: 'pro',
        renews: true,
        provider: 'manual',
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

  it.skipIf(skip)('the schema has the creators of earlier keys, as far as the audit log names them', async () => {
    const key = (id: string): string =>
      `insert into api_keys (id, account_id, name, mode, hash, prefix, last_four, created_at)
         values ('${id}', 'a', 'k', 'live', '${id}', 'p', 'l', '${AT}')`;
    const entry = (actor: string, action: string, subject: string): string =>
      `insert into audit (at, actor, action, account_id, subject, details) values ('${AT}', '${actor}', '${action}', 'a', '${subject}', '{}')`;
    const place = await createBefore(
      'add column created_by',
      [
        `insert into accounts (id, name, created_at) values ('a', 'A', '${AT}')`,
        ...['mine', 'cli', 'unknown'].map(key),
        entry('user:ann', 'key.created', 'mine'),
        entry('user:bob', 'key.renamed', 'mine'),
        entry('cli:root', 'key.created', 'cli'),
      ].join('; '),
    );
    const engine = await openAt(place);
    const keys = await createStore(engine).keys.list('a');
    expect(Object.fromEntries(keys.map(({ id, createdBy }) => [id, createdBy]))).toEqual({
      mine: 'ann',
      cli: null,
      unknown: null,
    });
    await engine.close();
  });

  it.skipIf(skip)('the schema has names and nulls for what earlier programs wrote', async () => {
    const place = await createBefore('rename to holds', rowsWithSentinels());
    const engine = await openAt(place);
    const store = createStore(engine, () => new Date(AT));
    expect(await engine.all('select id, owner from holds order by id')).toEqual([
      { id: 'held', owner: 'host/1/x' },
      { id: 'stored', owner: null },
    ]);
    expect(await engine.all('select owner from idempotency')).toEqual([{ owner: null }]);
    expect(await engine.all('select id from owners')).toEqual([]);
    expect(await store.users.findByEmail('eve@example.com')).toBeUndefined();
    expect(await store.users.find('eve')).toMatchObject({ email: null, unconfirmedEmail: 'eve@example.com' });
    expect(await store.users.find('bob')).toMatchObject({ passwordHash: null, tokenKey: 'random' });
    expect(await store.users.find('ann')).toMatchObject({
      email: 'ann@example.com',
      passwordHash: 'hash',
      tokenKey: 'hash',
    });
    expect(await store.linkedIdentities.list('bob')).toHaveLength(1);
    expect((await store.sessions.list('ann')).map(({ userAgent }) => userAgent)).toEqual([null]);
    expect((await store.requests.list('a', { count: 9 })).map(({ code }) => code)).toEqual([null, 'rate_limited']);
    const delivery = await store.webhookDeliveries.find('a', 'd');
    expect(delivery?.dueAt).toBe(AT);
    expect(await engine.all('select is_due from webhook_deliveries')).toEqual([{ is_due: 1 }]);
    expect((await store.renders.claim('image'))?.render.id).toBe('stored');
    // The sums of bytes follow the renamed table.
    await engine.run('update renders set has_asset = 0');
    expect(await engine.all('select bytes from stored_bytes')).toEqual([]);
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
  it('compatibleFrom is the version of the last migration that older programs cannot cope with', () => {
    const breaking = { common: '' };
    const additive = { common: '', isCompatible: true } as const;
    expect(compatibleFrom([breaking, additive, breaking, additive, additive])).toBe(3);
    expect(compatibleFrom([breaking])).toBe(1);
    expect(compatibleFrom([additive])).toBe(0);
  });
});
