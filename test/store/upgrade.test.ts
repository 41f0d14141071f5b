// The upgrade of a database that version 0.2.0 made, with what its server and its commands stored.

import { readFileSync } from 'node:fs';
import path from 'node:path';
import Database from 'libsql';
import pg from 'pg';
import { afterEach, describe, expect, inject, it } from 'vitest';
import { hashKey } from '../../src/service/account/api-key.ts';
import { readRequest, webhookUrlIn } from '../../src/service/renders/stored-request.ts';
import { TABLES } from '../../src/service/store/copy.ts';
import type { Engine } from '../../src/service/store/engine.ts';
import { createStore, type Store } from '../../src/service/store/store.ts';
import { NO_POSTGRES } from '../postgres-server.ts';
import { postgresDatabase, sqliteDatabase, type TestDatabase } from './databases.ts';

const url = inject('postgresUrl');
/** The live key of the account. */
const KEY = 'sb_live_YCTZPdGY8HBL2uRlGOI0q5D7M5L3bW7mp';
const ACCOUNT = '0724fd67-9ae3-476a-9131-f7e5b83f219a';
/** The server of version 0.2.0 was killed before, so its leases have run out. */
const NOW = new Date('2026-11-18T10:00:00.000Z');

type Rows = readonly Readonly<Record<string, unknown>>[];
type Query = (sql: string) => Promise<Rows>;

interface Kind {
  readonly create: () => Promise<TestDatabase>;
  /** Runs statements on the database as it is, and returns the rows of `queries`. */
  readonly load: (place: string, sql: string, read: (query: Query) => Promise<void>) => Promise<void>;
  readonly fixture: string;
  /** Selects everything that makes up the schema. */
  readonly schema: readonly string[];
}

const SQLITE: Kind = {
  create: async () => sqliteDatabase(),
  load: async (place, sql, read) => {
    const database = new Database(place);
    database.exec(sql);
    await read(async (query) => database.prepare(query).all([]) as Rows);
    database.close();
  },
  fixture: 'version-0.2.0.sqlite.sql',
  schema: ['select type, name, tbl_name, sql from sqlite_schema order by type, name'],
};

const POSTGRES: Kind = {
  create: async () => await postgresDatabase(url),
  load: async (place, sql, read) => {
    const client = new pg.Client({ connectionString: place });
    await client.connect();
    await client.query(sql);
    await read(async (query) => (await client.query(query)).rows as Rows);
    await client.end();
  },
  fixture: 'version-0.2.0.postgres.sql',
  schema: [
    `select relname, relkind, relpersistence, reloptions from pg_class where relnamespace = 'public'::regnamespace
       order by relname`,
    `select table_name, column_name, ordinal_position, data_type, is_nullable, column_default, is_identity
       from information_schema.columns where table_schema = 'public' order by table_name, ordinal_position`,
    "select tablename, indexname, indexdef from pg_indexes where schemaname = 'public' order by indexname",
    `select conrelid::regclass::text as name, conname, pg_get_constraintdef(oid) as definition from pg_constraint
       where connamespace = 'public'::regnamespace order by 1, 2`,
    'select tgname, pg_get_triggerdef(oid) as definition from pg_trigger where not tgisinternal order by tgname',
    "select proname, prosrc from pg_proc where pronamespace = 'public'::regnamespace order by proname",
  ],
};

/** Tables that had other names, by their new ones. */
const RENAMED: Readonly<Record<string, string>> = { holds: 'renders', renders: 'render_jobs' };

/** Columns whose meaning has changed, which the tests below look at, or that are gone. */
const CHANGED: Readonly<Record<string, readonly string[]>> = {
  holds: ['owner'],
  renders: ['due_at'],
  idempotency: ['owner'],
  users: ['email', 'password_hash', 'has_password'],
  sessions: ['user_agent'],
  requests: ['code'],
  webhook_deliveries: ['due_at'],
};

function without(row: Readonly<Record<string, unknown>>, columns: readonly string[]): string {
  const kept = Object.entries(row).filter(([name]) => !columns.includes(name));
  // PostgreSQL's driver returns its 64-bit numbers as text.
  const values = kept.map(([name, value]) => JSON.stringify([name, typeof value === 'number' ? `${value}` : value]));
  return values.toSorted((one, other) => (one < other ? -1 : 1)).join();
}

const databases: TestDatabase[] = [];
afterEach(async () => {
  for (const database of databases.splice(0)) await database.remove();
});

async function created({ create }: Kind): Promise<TestDatabase> {
  const database = await create();
  databases.push(database);
  return database;
}

/** Returns the upgraded database, and the rows that it had before. */
async function upgraded(kind: Kind): Promise<{ engine: Engine; store: Store; before: Map<string, Rows> }> {
  const database = await created(kind);
  const before = new Map<string, Rows>();
  const sql = readFileSync(path.join(import.meta.dirname, kind.fixture), 'utf8');
  await kind.load(database.place, sql, async (query) => {
    for (const { name } of TABLES) {
      const isNew = NEW_TABLES.has(name);
      before.set(name, isNew ? [] : await query(`select * from ${RENAMED[name] ?? name}`));
    }
  });
  const engine = await database.open();
  return { engine, store: createStore(engine, () => NOW, 'host/3/c'), before };
}

const NEW_TABLES = new Set([
  'shared_tasks',
  'test_renders',
  'styles',
  'style_versions',
  'brand_files',
  'incidents',
  'incident_updates',
]);

describe.each([
  ['SQLite', SQLITE, false],
  [`PostgreSQL${url === '' ? `: ${NO_POSTGRES}` : ''}`, POSTGRES, url === ''],
])('a database of version 0.2.0 on %s', (_name, kind, skip) => {
  it.skipIf(skip)('has the schema of a new database after the upgrade', async () => {
    const { engine } = await upgraded(kind);
    const fresh = await (await created(kind)).open();
    for (const sql of kind.schema) expect(await engine.all(sql)).toEqual(await fresh.all(sql));
  });

  it.skipIf(skip)('keeps all its rows', async () => {
    const { engine, before } = await upgraded(kind);
    for (const { name } of TABLES) {
      const former = before.get(name) ?? [];
      const added = Object.keys((await engine.all(`select * from ${name} limit 1`))[0] ?? {}).filter(
        (column) => !Object.keys(former[0] ?? {}).includes(column),
      );
      const changed = CHANGED[name] ?? [];
      const rows = (await engine.all(`select * from ${name}`)).map((row) => without(row, [...changed, ...added]));
      const kept = name === 'owners' ? former.filter(({ id }) => id !== 'renders') : former;
      expect([name, rows.toSorted()]).toEqual([name, kept.map((row) => without(row, changed)).toSorted()]);
      expect([name, rows.length > 0]).toEqual([name, !NEW_TABLES.has(name)]);
    }
  });

  it.skipIf(skip)('has names and nulls for what version 0.2.0 wrote', async () => {
    const { engine, store } = await upgraded(kind);
    const owners = await engine.all('select distinct owner from holds order by owner');
    expect(new Set(owners.map(({ owner }) => owner))).toEqual(new Set(['host/1/a', null]));
    expect(await engine.all('select key, owner from idempotency order by key')).toEqual([
      { key: 'live:later', owner: null },
      { key: 'live:once', owner: 'host/1/a' },
    ]);
    expect(await store.users.find('gus')).toMatchObject({ email: null, unconfirmedEmail: 'gus@example.com' });
    expect(await store.users.find('dora')).toMatchObject({ passwordHash: null, tokenKey: 'random' });
    expect(await store.linkedIdentities.list('dora')).toHaveLength(1);
    const ann = await store.users.findByEmail('ann@example.com');
    expect(ann?.passwordHash).toMatch(/^\$argon2id/u);
    expect(ann?.tokenKey).toBe(ann?.passwordHash);
    const carl = await store.users.findByEmail('carl@example.com');
    expect((await store.sessions.list(carl?.id ?? '')).map(({ userAgent }) => userAgent)).toEqual([null]);
    expect((await store.sessions.list(ann?.id ?? '')).map(({ userAgent }) => userAgent)).toEqual(['node']);
    const codes = (await store.requests.list(ACCOUNT, { count: 20 })).map(({ code }) => code);
    expect(new Set(codes)).toEqual(new Set([null, 'invalid_fields']));
    const keys = await engine.all("select created_by from api_keys where name <> 'shop' and name <> 'test'");
    const eve = await store.users.findByEmail('eve@example.com');
    expect(keys).toEqual([{ created_by: eve?.id }]);
  });

  it.skipIf(skip)('can be used through the store', async () => {
    const { engine, store } = await upgraded(kind);
    expect(await store.keys.find(hashKey(KEY))).toMatchObject({ accountId: ACCOUNT, keyState: 'active' });
    expect(await store.accounts.find(ACCOUNT)).toMatchObject({ state: 'active', subscription: { plan: 'pro' } });
    expect(await store.users.findByEmail('ann@example.com')).toMatchObject({ accountId: ACCOUNT });
    const texts: string[] = [];
    for (let claim = await store.renders.claim('image'); claim; claim = await store.renders.claim('image')) {
      expect(webhookUrlIn(claim.render.request)).toBeUndefined();
      const { request } = readRequest(claim.render.request, true);
      texts.push(JSON.stringify(request.captions));
      await store.renders.fail(claim.attempt, { error: '{}', code: 'x', durationMs: 1 });
    }
    // The last of the five had ended before the server was killed.
    expect(
      texts.map((text) => /Queued \d/u.exec(text)?.[0] ?? '').toSorted((one, other) => (one < other ? -1 : 1)),
    ).toEqual(['Queued 2', 'Queued 3', 'Queued 4', 'Queued 5']);
    expect((await store.webhookDeliveries.claim(20)).length).toBeGreaterThan(0);
    // The audit log continues with the next number, and cannot be changed.
    const [last] = await store.audit.list({ count: 1 });
    await store.accounts.setSuspended(ACCOUNT, true, 'cli:x');
    expect((await store.audit.list({ count: 1 }))[0]?.seq).toBe((last?.seq ?? 0) + 1);
    await expect(engine.run("update audit set actor = 'x'")).rejects.toThrow('the audit log only grows');
    // The database maintains the sums of stored bytes.
    const sum = 'select sum(has_asset * asset_bytes + has_output * output_bytes) as bytes from renders';
    expect(await engine.all('select bytes from stored_bytes')).toEqual(await engine.all(sum));
    await engine.run('update renders set has_asset = 0, has_output = 0');
    expect(await engine.all('select bytes from stored_bytes')).toEqual([]);
  });
});
