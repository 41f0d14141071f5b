// Copies everything from one database into another, empty one, and verifies the copy.

import { crc32 } from 'node:zlib';
import { must } from '../primitives/must.ts';
import type { Engine, SqlSession } from './engine.ts';
import { integer, type SqlRow, type SqlValue, storedValue, text, toRow } from './rows.ts';

interface Table {
  readonly name: string;
  readonly key: readonly string[];
  readonly columns: readonly string[];
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

const table = (name: string, key: string, rest: string): Table => {
  const keys = key.split(' ');
  return { name, key: keys, columns: [...keys, ...rest.split(' ').filter((column) => column !== '')] };
};

/** Sums that triggers maintain. In SQLite, which can't turn triggers off, they follow from the other tables. */
export const SUMS: readonly Table[] = [
  table('stored_bytes', 'account_id', 'bytes'),
  table('stored_bytes_total', 'shard', 'bytes'),
];

/** The tables whose triggers maintain the sums. */
const SUMMED_TABLES = ['renders', 'brand_files'];

/** Each table comes after those it references. A test compares this list with the schema. */
export const TABLES: readonly Table[] = [
  table('accounts', 'id', 'name state created_at deleted_at awaits_approval'),
  table(
    'api_keys',
    'id',
    'account_id name mode state hash prefix last_four created_at last_used_at expires_at allowed_origins created_by',
  ),
  table(
    'subscriptions',
    'account_id',
    'plan next_plan status renews provider provider_subscription anchor_at period_starts_at period_ends_at',
  ),
  table('customers', 'account_id', 'customer revision'),
  table('periods', 'account_id starts_at', 'ends_at used reserved delivered broken_free broken_charged granted'),
  table('owners', 'id', 'alive_until'),
  table('trusted_time', 'id', 'trusted_at jumped_at'),
  table('shared_tasks', 'name', 'owner leased_until done_at'),
  table(
    'holds',
    'id',
    'account_id key_id mode kind credits period_starts_at state outcome owner created_at finished_at duration_ms ' +
      'is_counted_test',
  ),
  table('test_renders', 'account_id', 'day renders'),
  table('render_batches', 'id', 'account_id key_id mode created_at'),
  table(
    'renders',
    'id',
    'account_id key_id mode batch_id idempotency_key status lane request plan period_starts_at period_ends_at renews ' +
      'max_running asset asset_format asset_bytes asset_sha256 has_asset target has_target receiver owner is_due due_at attempts progress source_type credits ' +
      'result error output output_bytes has_output token expires_at created_at claimed_at started_at finished_at',
  ),
  table('render_events', 'id', 'account_id render_id type created_at handled_at'),
  table('usage_details', 'account_id day', 'details'),
  table('usage_days', 'account_id day mode outcome', 'renders credits'),
  table('idempotency', 'account_id key', 'fingerprint render_id owner state facts expires_at'),
  table('payment_events', 'id', 'type received_at'),
  table('users', 'id', 'account_id email unconfirmed_email role account_role password_hash token_key created_at'),
  table('sessions', 'hash', 'user_id created_at idle_until ends_at user_agent'),
  table('authenticators', 'user_id', 'secret last_step created_at'),
  table('recovery_codes', 'user_id hash', ''),
  table('passkeys', 'id', 'user_id name public_key counter transports created_at last_used_at'),
  table('passkey_challenges', 'hash', 'visitor expires_at'),
  table('linked_identities', 'provider subject', 'user_id email created_at last_used_at'),
  table('credit_notices', 'user_id period_starts_at percent', 'claimed_at sent_at credits'),
  table('password_links', 'hash', 'email role account_id created_at expires_at user_id is_mailed'),
  table('invitations', 'hash', 'account_id email account_role created_at expires_at'),
  table('requests', 'id', 'account_id at key_id path status code duration_ms credits bytes_in bytes_out faults'),
  table(
    'webhook_endpoints',
    'id',
    'account_id url events state disabled_reason disabled_at failing_since notice_due_at created_at',
  ),
  table('webhook_secrets', 'id', 'account_id lane secret created_at expires_at'),
  table('webhook_messages', 'id', 'account_id type body created_at'),
  table(
    'webhook_deliveries',
    'id',
    'account_id message_id endpoint_id lane url status is_due due_at owner claims attempts last_status last_error created_at ' +
      'finished_at',
  ),
  table('webhook_attempts', 'delivery_id number', 'at duration_ms request_headers status content_type response error'),
  table('styles', 'account_id name', 'version updated_at deleted_at'),
  table('style_versions', 'account_id name version', 'style created_at used_at'),
  table('brand_files', 'id', 'account_id kind bytes sha256 facts created_at deleted_at'),
  table('incidents', 'id', 'title impact started_at ended_at'),
  table('incident_updates', 'incident_id number', 'at body'),
  table('audit', 'seq', 'at actor action account_id subject details'),
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
        await continueAuditNumbers(writes);
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
async function insertBatch({ name, columns }: Table, { session, dialect }: Side, rows: Values[]): Promise<void> {
  const list = columns.join(', ');
  if (dialect === 'sqlite') {
    const values = columns.map((_, index) => `value ->> ${index}`).join(', ');
    const sql = `insert into ${name} (${list}) select ${values} from json_each(:rows)`;
    await session.run(sql, { rows: JSON.stringify(rows) });
    return;
  }
  const objects = rows.map((row) => Object.fromEntries(columns.map((column, index) => [column, row[index]])));
  const sql = `insert into ${name} (${list}) select ${list} from json_populate_recordset(null::${name}, cast(:rows as json))`;
  await session.run(sql, { rows: JSON.stringify(objects) });
}

/** The values of a row, in the order of the columns. */
type Values = readonly SqlValue[];

/** In the order in which the rows are stored, which is the fastest to read. The next batch is read while one is used. */
async function* batches(of: Table, side: Side): AsyncGenerator<Values[]> {
  const read = side.dialect === 'sqlite' ? fromSqlite(of, side.session) : await fromPostgres(of, side.session);
  for (let next = read(); ; ) {
    const rows = await next;
    if (rows.length === BATCH) {
      next = read();
      // If the batch before it fails, nothing waits for this one any more.
      next.catch(() => undefined);
    }
    const values = rows.map((row) => of.columns.map((column) => storedValue(row, column)));
    if (values.length > 0) yield values;
    if (rows.length < BATCH) break;
  }
  if (side.dialect === 'postgres') await side.session.run('close copied_rows');
}

function fromSqlite({ name, columns }: Table, session: SqlSession): () => Promise<SqlRow[]> {
  let after = 0;
  return async () => {
    const rows = await session.all(
      `select rowid as stored_as, ${columns.join(', ')} from ${name} where rowid > :after order by rowid limit :limit`,
      { after, limit: BATCH },
    );
    const last = rows.at(-1);
    if (last !== undefined) after = integer(last, 'stored_as');
    return rows;
  };
}

async function fromPostgres({ name, columns }: Table, session: SqlSession): Promise<() => Promise<SqlRow[]>> {
  await session.run(`declare copied_rows no scroll cursor for select ${columns.join(', ')} from ${name}`);
  return async () => await session.all(`fetch ${BATCH} from copied_rows`);
}

function checksumOf(rows: readonly Values[]): number {
  return rows.reduce((total, row) => total + crc32(JSON.stringify(row)), 0);
}

/** Rows that were inserted with a number don't advance the sequence. */
async function continueAuditNumbers(session: SqlSession): Promise<void> {
  await session.all(
    "select setval(pg_get_serial_sequence('audit', 'seq'), (select coalesce(max(seq), 0) + 1 from audit), false)",
  );
}
