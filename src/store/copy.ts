// Copies everything from one database into another, empty one, and verifies the copy.

import { crc32 } from 'node:zlib';
import { must } from '../primitives/must.ts';
import { type Engine, insertRows, type SqlSession } from './engine.ts';
import { compare, EVERY_ROW } from './bounded/steps.ts';
import { type SqlParameters, storedValue, text } from './rows.ts';

interface Table {
  readonly name: string;
  readonly key: readonly string[];
  readonly columns: readonly string[];
}

export interface TableCopy {
  readonly table: string;
  readonly rows: number;
  /** The sum of the checksums of all rows, which doesn't depend on their order. */
  readonly sum: number;
}

export interface LiveServer {
  readonly host: string;
  readonly pid: string;
  readonly leaseEndsAt: string;
}

const BATCH = 200;
/** One side is idle while the other works, for longer than a server's transaction may take. */
const NO_IDLE_TIMEOUT = 'set local idle_in_transaction_session_timeout = 0';

const table = (name: string, key: string, rest: string): Table => {
  const keys = key.split(' ');
  return { name, key: keys, columns: [...keys, ...rest.split(' ').filter((column) => column !== '')] };
};

/** Tables of sums that the database itself maintains when the rows of other tables are copied. */
export const DERIVED_TABLES: readonly string[] = ['stored_bytes', 'stored_bytes_total'];

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
      'max_running asset asset_format asset_bytes asset_sha256 has_asset owner is_due due_at attempts progress source_type credits ' +
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

/** Copies the source as it was at one moment, completely or not at all. */
export async function copyAll(source: Engine, target: Engine): Promise<TableCopy[]> {
  return await source.transaction(async (from) => {
    if (source.dialect === 'postgres') {
      await from.run('set transaction isolation level repeatable read');
      await from.run(NO_IDLE_TIMEOUT);
    }
    return await target.transaction(async (to) => {
      if (target.dialect === 'postgres') await to.run(NO_IDLE_TIMEOUT);
      const copies: TableCopy[] = [];
      for (const each of TABLES) copies.push(await copyTable(each, from, to));
      if (target.dialect === 'postgres') await continueAuditNumbers(to);
      for (const [index, each] of TABLES.entries()) await verify(each, to, must(copies[index], 'the copy of a table'));
      return copies;
    });
  });
}

async function copyTable({ name, key, columns }: Table, from: SqlSession, to: SqlSession): Promise<TableCopy> {
  let [rows, sum] = [0, 0];
  for await (const batch of batches({ name, key, columns }, from)) {
    await insertRows(to, name, batch);
    rows += batch.length;
    sum += checksumOf(batch);
  }
  return { table: name, rows, sum };
}

async function verify(copied: Table, to: SqlSession, expected: TableCopy): Promise<void> {
  let [rows, sum] = [0, 0];
  for await (const batch of batches(copied, to)) {
    rows += batch.length;
    sum += checksumOf(batch);
  }
  if (rows === expected.rows && sum === expected.sum) return;
  throw new Error(
    `the copy of ${copied.name} differs from its source (${expected.rows} rows copied, ${rows} found); nothing was kept`,
  );
}

async function* batches({ name, key, columns }: Table, session: SqlSession): AsyncGenerator<SqlParameters[]> {
  for (let last: SqlParameters | undefined; ; ) {
    const [beyond, parameters] = last === undefined ? EVERY_ROW : compare(key, '>', last);
    const rows = await session.all(
      `select ${columns.join(', ')} from ${name} where ${beyond} order by ${key.join(', ')} limit :limit`,
      { ...parameters, limit: BATCH },
    );
    const values = rows.map((row) => Object.fromEntries(columns.map((column) => [column, storedValue(row, column)])));
    if (values.length > 0) yield values;
    if (values.length < BATCH) return;
    last = must(values.at(-1), 'the last row');
  }
}

function checksumOf(rows: readonly SqlParameters[]): number {
  return rows.reduce((total, row) => total + crc32(JSON.stringify(Object.values(row))), 0);
}

/** Rows that were inserted with a number don't advance the sequence. */
async function continueAuditNumbers(session: SqlSession): Promise<void> {
  await session.all(
    "select setval(pg_get_serial_sequence('audit', 'seq'), (select coalesce(max(seq), 0) + 1 from audit), false)",
  );
}
