// Fills an empty database with the data of a service that has run for a while: many small accounts, and one account
// that has the maximum of everything.

import { createHash } from 'node:crypto';
import { TABLES } from '../../src/service/store/copy.ts';
import { type Engine, insertRows, type SqlSession } from '../../src/service/store/engine.ts';
import type { SqlRow, SqlValue } from '../../src/service/store/rows.ts';
import { must } from '../../src/shared/must.ts';

export interface Sizes {
  readonly accounts: number;
  readonly requests: number;
  readonly renders: number;
  readonly queued: number;
}

/** The account with a tenth of all requests and half of all renders. */
export const BIG = uuid('account', 0);

const ROWS_PER_STATEMENT = 50;
const ROWS_PER_TRANSACTION = 20_000;
const DAY_MS = 24 * 3_600_000;
const MONTH_DAYS = 30;
const KINDS = ['image', 'video', 'overlay'];

/** Returns an id that looks random, and is the same each time. */
export function uuid(kind: string, index: number): string {
  const hex = createHash('sha256').update(`${kind} ${index}`).digest('hex');
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-4${hex.slice(13, 16)}-8${hex.slice(17, 20)}-${hex.slice(20, 32)}`;
}

type MakeRow = (index: number) => Readonly<Record<string, SqlValue>>;

export async function seed(engine: Engine, sizes: Sizes, now = new Date()): Promise<void> {
  if (engine.dialect === 'sqlite') {
    await engine.all('pragma cache_size = -1000000');
    await engine.all('pragma synchronous = off');
  }
  const rowsOf = rowMakers(sizes, now);
  for (const { name } of TABLES) {
    const made = rowsOf[name];
    if (made === undefined) continue;
    for (let start = 0; start < made.count; start += ROWS_PER_TRANSACTION) {
      const count = Math.min(ROWS_PER_TRANSACTION, made.count - start);
      await engine.transaction(async (session) => await insert(session, name, made.row, start, count));
    }
    // PostgreSQL does this by itself, but later. SQLite has no statistics in production either. One table at a time stays
    // below the timeout of a statement.
    if (engine.dialect === 'postgres') await engine.run(`analyze ${name}`);
  }
}

async function insert(session: SqlSession, table: string, row: MakeRow, from: number, count: number): Promise<void> {
  for (let start = from; start < from + count; start += ROWS_PER_STATEMENT) {
    const length = Math.min(ROWS_PER_STATEMENT, from + count - start);
    const rows = Array.from({ length }, (_, offset) => row(start + offset));
    const columns = Object.keys(must(rows[0], 'a row'));
    const complete = rows.map((each) => Object.fromEntries(columns.map((column) => [column, each[column] ?? null])));
    await insertRows(session, table, complete);
  }
}

function rowMakers(sizes: Sizes, now: Date): Readonly<Record<string, { count: number; row: MakeRow }>> {
  const { accounts, requests, renders, queued } = sizes;
  const ago = (days: number): string => new Date(now.getTime() - days * DAY_MS).toISOString();
  const account = (index: number): string => uuid('account', index % accounts);
  /** Times are spread over a month, newest last. */
  const spread = (index: number, count: number): string => ago(MONTH_DAYS * (1 - index / count));
  const owned = (index: number): { id: string; account_id: string } => ({
    id: uuid('render', index),
    account_id: index % 2 === 0 ? BIG : account(index),
  });
  const people = (index: number): SqlRow & Record<string, SqlValue> => ({
    id: uuid('user', index),
    account_id: account(index),
    role: index === 0 ? 'operator' : 'member',
    email: index % 10 === 9 ? null : `user${index}@example.com`,
    password_hash: 'x',
    token_key: 'x',
    unconfirmed_email: index % 10 === 9 ? `user${index}@example.com` : null,
    created_at: ago(40),
  });
  return {
    accounts: {
      count: accounts,
      row: (index) => ({ id: account(index), name: `Account ${index}`, created_at: spread(index, accounts) }),
    },
    users: { count: accounts, row: people },
    api_keys: {
      count: accounts,
      row: (index) => ({
        id: uuid('key', index),
        account_id: account(index),
        name: 'Default',
        created_at: ago(20),
        mode: index % 2 === 0 ? 'live' : 'test',
        hash: uuid('hash', index),
        prefix: 'sb_live_',
        last_four: 'abcd',
      }),
    },
    subscriptions: {
      count: accounts,
      row: (index) => ({
        account_id: account(index),
        plan: index % 20 === 0 ? 'pro' : 'free',
        status: 'active',
        renews: 1,
        provider: index % 20 === 0 ? 'stripe' : 'manual',
        anchor_at: ago(20),
        period_starts_at: ago(20),
        period_ends_at: ago(-10),
      }),
    },
    customers: {
      count: accounts / 20,
      row: (index) => ({ account_id: account(index * 20), customer: `cus_${index}` }),
    },
    periods: {
      count: accounts,
      row: (index) => ({
        account_id: account(index),
        starts_at: ago(20),
        ends_at: ago(-10 - index / accounts),
        used: index % 120,
        reserved: 0,
      }),
    },
    holds: {
      count: renders,
      row: (index) => ({
        ...owned(index),
        key_id: uuid('key', 0),
        mode: 'live',
        kind: KINDS[index % KINDS.length] ?? '',
        credits: 1,
        period_starts_at: ago(20),
        state: 'settled',
        outcome: 'delivered',
        owner: 'gone',
        created_at: spread(index, renders),
        finished_at: spread(index, renders),
        duration_ms: 40,
      }),
    },
    render_batches: {
      count: renders / 50,
      row: (index) => ({
        id: uuid('batch', index),
        account_id: BIG,
        mode: 'live',
        created_at: spread(index, renders / 50),
      }),
    },
    renders: {
      count: renders + queued,
      row: (index) =>
        index < renders ? finished(index, owned(index), sizes, ago) : waiting(index, account(index), ago),
    },
    render_events: {
      count: renders,
      row: (index) => ({
        id: uuid('event', index),
        account_id: owned(index).account_id,
        render_id: uuid('render', index),
        type: 'render.succeeded',
        created_at: spread(index, renders),
        handled_at: spread(index, renders),
      }),
    },
    usage_days: {
      count: accounts * 3,
      row: (index) => ({
        account_id: account(index),
        day: ago(Math.floor(index / accounts) * 7 + (index % 7)).slice(0, 10),
        mode: 'live',
        outcome: index % 9 === 0 ? 'overloaded' : 'delivered',
        renders: 5,
        credits: 5,
      }),
    },
    idempotency: {
      count: accounts,
      row: (index) => ({
        account_id: account(index),
        key: `key-${index}`,
        fingerprint: 'x',
        render_id: uuid('render', index),
        owner: null,
        state: 'done',
        facts: '{}',
        expires_at: ago(0.5 - index / accounts),
      }),
    },
    payment_events: {
      count: accounts,
      row: (index) => ({ id: `evt_${index}`, type: 'invoice.paid', received_at: spread(index, accounts) }),
    },
    sessions: {
      count: accounts,
      row: (index) => ({
        hash: uuid('session', index),
        user_id: uuid('user', index),
        created_at: ago(20),
        idle_until: ago(5 - (index % 10)),
        ends_at: ago(index % 20 === 0 ? 1 : -10),
      }),
    },
    password_links: {
      count: accounts / 10,
      row: (index) => ({
        hash: uuid('link', index),
        email: `user${index}@example.com`,
        role: 'member',
        created_at: ago(2),
        expires_at: ago(index % 2 === 0 ? 1 : -1),
      }),
    },
    passkey_challenges: {
      count: accounts / 10,
      row: (index) => ({ hash: uuid('challenge', index), visitor: 'x', expires_at: ago(index % 2 === 0 ? 1 : -1) }),
    },
    invitations: {
      count: accounts / 10,
      row: (index) => ({
        hash: uuid('invitation', index),
        account_id: account(index),
        email: `new${index}@example.com`,
        account_role: 'member',
        created_at: ago(8),
        expires_at: ago(index % 2 === 0 ? 1 : -1),
      }),
    },
    requests: {
      count: requests,
      row: (index) => ({
        id: uuid('request', index),
        account_id: index % 10 === 0 ? BIG : account(index),
        // Some requests are older than the retention period.
        at: ago((MONTH_DAYS + 1) * (1 - index / requests)),
        key_id: uuid('key', 0),
        path: 'POST /v1/overlay',
        status: 200,
        code: null,
        duration_ms: 40,
        credits: 1,
        bytes_in: 100_000,
        bytes_out: 90_000,
        faults: '[]',
      }),
    },
    webhook_endpoints: {
      count: accounts / 10,
      row: (index) => ({
        id: uuid('endpoint', index),
        account_id: account(index),
        url: 'https://example.com/',
        events: '[]',
        state: 'enabled',
        created_at: ago(20),
      }),
    },
    webhook_messages: {
      count: renders,
      row: (index) => ({
        id: uuid('message', index),
        account_id: owned(index).account_id,
        type: 'render.succeeded',
        body: '{}',
        created_at: ago((MONTH_DAYS + 1) * (1 - index / renders)),
      }),
    },
    webhook_deliveries: { count: renders, row: (index) => delivery(index, owned(index).account_id, sizes, ago) },
    webhook_attempts: {
      count: renders,
      row: (index) => ({
        delivery_id: uuid('delivery', index),
        number: 1,
        at: ago(1),
        duration_ms: 5,
        request_headers: '{}',
        status: 200,
        response: '',
      }),
    },
    audit: {
      count: accounts * 3,
      row: (index) => ({
        at: spread(index, accounts * 3),
        actor: `user:${uuid('user', index % accounts)}`,
        action: ['account.created', 'key.created', 'user.signed_in'][index % 3] ?? '',
        account_id: index % 3 === 0 ? BIG : account(index),
        subject: account(index),
        details: '{}',
      }),
    },
  };
}

type Ago = (days: number) => string;

function job(accountId: string, ago: Ago): Record<string, SqlValue> {
  return {
    account_id: accountId,
    key_id: uuid('key', 0),
    mode: 'live',
    lane: 'image',
    request: '{"fields":[]}',
    plan: 'pro',
    period_starts_at: ago(20),
    period_ends_at: ago(-10),
    renews: 1,
    max_running: 8,
  };
}

function finished(
  index: number,
  owned: { readonly id: string; readonly account_id: string },
  { renders }: Sizes,
  ago: Ago,
): Record<string, SqlValue> {
  const at = ago(MONTH_DAYS * (1 - index / renders));
  const days = (index / renders) * 2 - 1;
  return {
    ...job(owned.account_id, ago),
    id: owned.id,
    batch_id: index % 2 === 0 ? uuid('batch', Math.floor(index / 50)) : null,
    status: 'succeeded',
    is_due: 0,
    due_at: at,
    result: '{}',
    credits: 1,
    output: `outputs/${owned.id}.1`,
    output_bytes: 1_000,
    has_output: 1,
    token: uuid('token', index),
    expires_at: ago(-days),
    created_at: at,
    claimed_at: at,
    started_at: at,
    finished_at: at,
  };
}

function waiting(index: number, accountId: string, ago: Ago): Record<string, SqlValue> {
  const at = ago(0.01 - index * 1e-9);
  const ended = { batch_id: null, result: null, credits: null, output: null, output_bytes: 0, has_output: 0 };
  return {
    ...job(accountId, ago),
    id: uuid('render', index),
    ...ended,
    status: 'queued',
    is_due: 1,
    due_at: at,
    token: null,
    expires_at: null,
    created_at: at,
    claimed_at: null,
    started_at: null,
    finished_at: null,
  };
}

function delivery(index: number, accountId: string, { renders }: Sizes, ago: Ago): Record<string, SqlValue> {
  const isPending = index >= renders * 0.9;
  const lane = isPending ? uuid('endpoint', index % 10_000) : uuid('endpoint', 0);
  return {
    id: uuid('delivery', index),
    account_id: accountId,
    message_id: uuid('message', index),
    endpoint_id: lane,
    lane,
    url: 'https://example.com/',
    status: isPending ? 'pending' : 'succeeded',
    attempts: 1,
    is_due: 1,
    due_at: ago(1),
    created_at: ago((MONTH_DAYS + 1) * (1 - index / renders)),
  };
}
