// Copies everything from one database into another, empty one, and verifies the copy.

import { crc32 } from 'node:zlib';
import { must } from '../../shared/must.ts';
import type { Engine, SqlSession } from './engine.ts';
import { CONTINUE_AUDIT_NUMBERS } from './migrations.ts';
import { integer, type SqlRow, text, toRow } from './rows.ts';

interface Table {
  readonly name: string;
  readonly key: readonly string[];
  /** The columns by which rows are deleted with their account or user. */
  readonly belongsTo: readonly string[];
}

export interface TableCopy {
  readonly table: string;
  readonly rows: number;
  /** The sum of the checksums of all rows, modulo `MODULUS`. It doesn't depend on their order. */
  readonly sum: number;
}

export interface LiveServer {
  readonly host: string;
  readonly pid: string;
  readonly leaseEndsAt: string;
}

const BATCH = 2_000;
/** Sums stay exact: beyond 2^53 they would be rounded, and depend on the order of the rows. */
const MODULUS = 2 ** 48;
/** One side is idle while the other works, for longer than a server's transaction may take. */
const NO_IDLE_TIMEOUT = 'set local idle_in_transaction_session_timeout = 0';

const table = (name: string, key: string, belongsTo = ''): Table => ({
  name,
  key: key.split(' '),
  belongsTo: belongsTo === '' ? [] : belongsTo.split(' '),
});

/** Sums that triggers maintain. In SQLite, which can't turn triggers off, they follow from the other tables. */
export const SUMS: readonly Table[] = [
  table('stored_bytes', 'account_id', 'account_id'),
  table('stored_bytes_total', 'shard'),
];

/** The tables whose triggers maintain the sums. */
const SUMMED_TABLES = ['renders', 'brand_files'];

/** Each table comes after those it references. A test compares this list with the schema. */
export const TABLES: readonly Table[] = [
  table('accounts', 'id'),
  table('api_keys', 'id', 'account_id'),
  table('subscriptions', 'account_id', 'account_id'),
  table('customers', 'account_id', 'account_id'),
  table('periods', 'account_id starts_at', 'account_id'),
  table('owners', 'id'),
  table('trusted_time', 'id'),
  table('shared_tasks', 'name'),
  table('holds', 'id', 'account_id'),
  table('test_renders', 'account_id', 'account_id'),
  table('render_batches', 'id', 'account_id'),
  table('renders', 'id', 'account_id'),
  table('render_events', 'id', 'account_id'),
  table('usage_details', 'account_id day', 'account_id'),
  table('usage_days', 'account_id day mode outcome', 'account_id'),
  table('idempotency', 'account_id key', 'account_id'),
  table('payment_events', 'id'),
  table('users', 'id', 'account_id'),
  table('sessions', 'hash', 'user_id'),
  table('authenticators', 'user_id', 'user_id'),
  table('recovery_codes', 'user_id hash', 'user_id'),
  table('passkeys', 'id', 'user_id'),
  table('passkey_challenges', 'hash'),
  table('linked_identities', 'provider subject', 'user_id'),
  table('credit_notices', 'user_id period_starts_at percent', 'user_id'),
  table('password_links', 'hash', 'account_id user_id'),
  table('invitations', 'hash', 'account_id'),
  table('requests', 'id', 'account_id'),
  table('webhook_endpoints', 'id', 'account_id'),
  table('webhook_secrets', 'id', 'account_id'),
  table('webhook_messages', 'id', 'account_id'),
  table('webhook_deliveries', 'id', 'account_id'),
  table('webhook_attempts', 'delivery_id number'),
  table('styles', 'account_id name', 'account_id'),
  table('style_versions', 'account_id name version', 'account_id'),
  table('brand_files', 'id', 'account_id'),
  table('incidents', 'id'),
  table('incident_updates', 'incident_id number'),
  table('audit', 'seq', 'account_id'),
];

/**
 * Returns servers that have renewed their lease lately and aren't known to be gone. They would write to the source
 * after the copy.
 */
export async function liveServers(
  engine: Engine,
  isGone: (owner: string) => boolean,
  now = new Date(),
): Promise<LiveServer[]> {
  const rows = await engine.all('select id, alive_until from owners where alive_until > :now order by id', { now });
  const owners = rows.map((row) => ({ id: text(row, 'id'), leaseEndsAt: text(row, 'alive_until') }));
  return owners
    .filter(({ id }) => !isGone(id))
    .map(({ id, leaseEndsAt }) => {
      const [host = id, pid = ''] = id.split('/');
      return { host, pid, leaseEndsAt };
    });
}

export async function isEmpty(engine: Engine): Promise<boolean> {
  for (const { name } of TABLES) {
    if ((await engine.all(`select 1 as one from ${name} limit 1`)).length > 0) return false;
  }
  return true;
}

/** Called after every batch. Verifying a copy takes about as long as making it. */
export type OnCopied = (progress: { readonly table: string; readonly share: number }) => void;

interface Side {
  readonly session: SqlSession;
  readonly dialect: Engine['dialect'];
}

/** Copies the source as it was at one moment, completely or not at all. */
export async function copyAll(
  source: Engine,
  target: Engine,
  onCopied: OnCopied = () => undefined,
): Promise<TableCopy[]> {
  return await source.transaction(async (session) => {
    const from = { session, dialect: source.dialect };
    if (from.dialect === 'postgres') {
      await session.run('set transaction isolation level repeatable read');
      await session.run(NO_IDLE_TIMEOUT);
    }
    const tables = target.dialect === 'postgres' ? [...TABLES, ...SUMS] : TABLES;
    const count = counter(await countRows(tables, from), onCopied);
    return await target.transaction(async (writes) => {
      const to = { session: writes, dialect: target.dialect };
      if (to.dialect === 'postgres') {
        await writes.run(NO_IDLE_TIMEOUT);
        await setTriggers(writes, 'disable');
      }
      const copies: TableCopy[] = [];
      for (const each of tables) copies.push(await copyTable(each, { from, to, count }));
      if (to.dialect === 'postgres') {
        await setTriggers(writes, 'enable');
        await writes.all(CONTINUE_AUDIT_NUMBERS);
      }
      for (const [index, each] of tables.entries()) {
        await verify(each, to, must(copies[index], 'the copy of a table'), count);
      }
      // Sums aren't listed, because they are copied to PostgreSQL only.
      return copies.slice(0, TABLES.length);
    });
  });
}

/**
 * Without triggers, sums are copied like other rows. With them, each row would add a version to the few rows of the
 * sums, and PostgreSQL goes through all versions of a transaction to find the latest.
 */
async function setTriggers(session: SqlSession, change: 'disable' | 'enable'): Promise<void> {
  for (const name of SUMMED_TABLES) await session.run(`alter table ${name} ${change} trigger user`);
}

type Count = (table: string, rows: number) => void;

/** Every row counts twice: when it is copied and when it is verified. */
function counter(total: number, onCopied: OnCopied): Count {
  let done = 0;
  return (name, rows) => {
    done += rows;
    onCopied({ table: name, share: Math.min(1, done / Math.max(1, total * 2)) });
  };
}

/** PostgreSQL only estimates, because counting takes as long as reading all tables. */
async function countRows(tables: readonly Table[], { session, dialect }: Side): Promise<number> {
  let total = 0;
  for (const { name } of tables) {
    const sql =
      dialect === 'sqlite'
        ? `select count(*) as rows from ${name}`
        : `select greatest(0, reltuples)::bigint as rows from pg_class where oid = '${name}'::regclass`;
    total += integer(toRow((await session.all(sql))[0]), 'rows');
  }
  return total;
}

async function copyTable(
  copied: Table,
  { from, to, count }: { readonly from: Side; readonly to: Side; readonly count: Count },
): Promise<TableCopy> {
  let [rows, sum] = [0, 0];
  for await (const batch of batches(copied, from)) {
    const insertion = insertBatch(copied, to, batch);
    sum = (sum + checksumOf(batch)) % MODULUS;
    await insertion;
    rows += batch.length;
    count(copied.name, batch.length);
  }
  return { table: copied.name, rows, sum };
}

async function verify(copied: Table, to: Side, expected: TableCopy, count: Count): Promise<void> {
  let [rows, sum] = [0, 0];
  for await (const batch of batches(copied, to)) {
    rows += batch.length;
    sum = (sum + checksumOf(batch)) % MODULUS;
    count(copied.name, batch.length);
  }
  if (rows === expected.rows && sum === expected.sum) return;
  throw new Error(
    `the copy of ${copied.name} differs from its source (${expected.rows} rows copied, ${rows} found); nothing was kept`,
  );
}

/** Sends all rows as one JSON parameter, which both databases unpack faster than a parameter per value. */
async function insertBatch({ name }: Table, { session, dialect }: Side, rows: readonly SqlRow[]): Promise<void> {
  const columns = Object.keys(toRow(rows[0]));
  const list = columns.join(', ');
  const values =
    dialect === 'sqlite'
      ? `${columns.map((column) => `value ->> '${column}'`).join(', ')} from json_each(:rows)`
      : `${list} from json_populate_recordset(null::${name}, cast(:rows as json))`;
  await session.run(`insert into ${name} (${list}) select ${values}`, { rows: JSON.stringify(rows) });
}

/** In the order in which the rows are stored, which is the fastest to read. The next batch is read while one is used. */
async function* batches(of: Table, side: Side): AsyncGenerator<SqlRow[]> {
  const read = side.dialect === 'sqlite' ? fromSqlite(of, side.session) : await fromPostgres(of, side.session);
  for (let next = read(); ; ) {
    const rows = await next;
    if (rows.length === BATCH) {
      next = read();
      // If the batch before it fails, nothing waits for this one any more.
      next.catch(() => undefined);
    }
    if (rows.length > 0) yield rows;
    if (rows.length < BATCH) break;
  }
  if (side.dialect === 'postgres') await side.session.run('close copied_rows');
}

function fromSqlite({ name }: Table, session: SqlSession): () => Promise<SqlRow[]> {
  let after = 0;
  return async () => {
    const rows = await session.all(
      `select *, rowid as stored_as from ${name} where rowid > :after order by rowid limit :limit`,
      { after, limit: BATCH },
    );
    const last = rows.at(-1);
    if (last !== undefined) after = integer(last, 'stored_as');
    return rows.map(({ stored_as: _storedAs, ...row }) => row);
  };
}

async function fromPostgres({ name }: Table, session: SqlSession): Promise<() => Promise<SqlRow[]>> {
  await session.run(`declare copied_rows no scroll cursor for select * from ${name}`);
  return async () => await session.all(`fetch ${BATCH} from copied_rows`);
}

/** The columns have the same order in all databases. */
function checksumOf(rows: readonly SqlRow[]): number {
  return rows.reduce((total, row) => total + crc32(JSON.stringify(row)), 0);
}
