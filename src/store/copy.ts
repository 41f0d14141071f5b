// Everything from one database into an empty other one, and read back.

import { crc32 } from 'node:zlib';
import type { Engine, Parameter, SqlSession } from './engine.ts';

interface Table {
  readonly name: string;
  readonly key: readonly string[];
  readonly columns: readonly string[];
}

export interface Copied {
  readonly table: string;
  readonly rows: number;
  /** Of the checksums of all rows, in whatever order. */
  readonly sum: number;
}

const BATCH = 200;
/** One side waits while the other works, longer than a server may. */
const PATIENCE = 'set local idle_in_transaction_session_timeout = 0';

const table = (name: string, key: string, rest: string): Table => {
  const keys = key.split(' ');
  return { name, key: keys, columns: [...keys, ...rest.split(' ')] };
};

/** What is referred to comes first. A test compares this with what the migrations make. */
export const TABLES: readonly Table[] = [
  table('accounts', 'id', 'name state created_at'),
  table(
    'api_keys',
    'id',
    'account_id name mode state hash prefix last_four created_at last_used_at expires_at allowed_origins',
  ),
  table(
    'subscriptions',
    'account_id',
    'plan next_plan status renews provider provider_subscription anchor_at period_starts_at period_ends_at',
  ),
  table('customers', 'account_id', 'customer revision'),
  table('periods', 'account_id starts_at', 'ends_at used reserved'),
  table('owners', 'id', 'alive_until'),
  table(
    'renders',
    'id',
    'account_id key_id mode kind credits period_starts_at state outcome owner created_at finished_at duration_ms',
  ),
  table('usage_days', 'account_id day mode outcome', 'renders credits'),
  table('idempotency', 'account_id key', 'fingerprint render_id owner state facts expires_at'),
  table('payment_events', 'id', 'type received_at'),
  table('users', 'id', 'account_id email role password_hash created_at'),
  table('sessions', 'hash', 'user_id created_at idle_until ends_at'),
  table('password_links', 'hash', 'email role account_id created_at expires_at'),
  table('audit', 'seq', 'at actor action account_id subject details'),
];

export async function isEmpty(engine: Engine): Promise<boolean> {
  for (const { name } of TABLES) {
    if ((await engine.all(`select 1 as one from ${name} limit 1`)).length > 0) return false;
  }
  return true;
}

/** All or nothing, and the source as it was at one moment. */
export async function copyAll(source: Engine, target: Engine): Promise<Copied[]> {
  return await source.transaction(async (from) => {
    if (source.dialect === 'postgres') await from.run('set transaction isolation level repeatable read');
    if (source.dialect === 'postgres') await from.run(PATIENCE);
    return await target.transaction(async (to) => {
      if (target.dialect === 'postgres') await to.run(PATIENCE);
      const copied: Copied[] = [];
      for (const each of TABLES) copied.push(await copyTable(each, from, to));
      if (target.dialect === 'postgres') await continueNumbers(to);
      for (const [index, each] of TABLES.entries()) await compare(each, to, copied[index]);
      return copied;
    });
  });
}

async function copyTable(what: Table, from: SqlSession, to: SqlSession): Promise<Copied> {
  let [rows, sum] = [0, 0];
  for await (const batch of batches(what, from)) {
    const places = batch.map(() => `(${what.columns.map(() => '?').join(', ')})`).join(', ');
    await to.run(`insert into ${what.name} (${what.columns.join(', ')}) values ${places}`, batch.flat());
    rows += batch.length;
    for (const row of batch) sum += checksum(row);
  }
  return { table: what.name, rows, sum };
}

async function compare(what: Table, to: SqlSession, copied: Copied | undefined): Promise<void> {
  let [rows, sum] = [0, 0];
  for await (const batch of batches(what, to)) {
    rows += batch.length;
    for (const row of batch) sum += checksum(row);
  }
  if (rows !== copied?.rows || sum !== copied.sum) {
    throw new Error(
      `${what.name}: ${copied?.rows} rows were copied and ${rows} arrived, or not the same; nothing was kept`,
    );
  }
}

async function* batches({ name, key, columns }: Table, session: SqlSession): AsyncGenerator<Parameter[][]> {
  const marks = key.map(() => '?').join(', ');
  for (let last: Parameter[] | undefined; ; ) {
    const beyond = last === undefined ? '' : `where (${key.join(', ')}) > (${marks})`;
    const rows: Record<string, Parameter>[] = await session.all(
      `select ${columns.join(', ')} from ${name} ${beyond} order by ${key.join(', ')} limit ?`,
      [...(last ?? []), BATCH],
    );
    const values = rows.map((row) => columns.map((column) => row[column] ?? null));
    if (values.length > 0) yield values;
    if (values.length < BATCH) return;
    last = values.at(-1)?.slice(0, key.length);
  }
}

function checksum(row: readonly Parameter[]): number {
  return crc32(JSON.stringify(row));
}

/** Numbers that were given explicitly do not move the counter. */
async function continueNumbers(session: SqlSession): Promise<void> {
  await session.all(
    "select setval(pg_get_serial_sequence('audit', 'seq'), (select coalesce(max(seq), 0) + 1 from audit), false)",
  );
}
