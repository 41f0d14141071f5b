// The log of API requests: every authenticated request, including refused ones. It holds no captions and no file names.

import { setImmediate as yieldToEventLoop } from 'node:timers/promises';
import { type Engine, first, insertRows } from '../engine.ts';
import { integer, type SqlParameters, type SqlRow, text, textOrNull } from '../rows.ts';
import {
  compare,
  EVERY_ROW,
  type SqlCondition,
  deleteOldest,
  listInSteps,
  rangesOf,
  SUMMED_ROWS,
} from '../bounded/steps.ts';

/** A fault of a field. The detail is left out, because it may quote the request. */
interface LoggedFault {
  readonly pointer: string;
  readonly code: string;
}

export interface LoggedRequest {
  /** The id in the response's `x-render-id`. */
  readonly id: string;
  readonly accountId: string;
  /** ISO 8601, when the request ended. */
  readonly at: string;
  /** Null for a request through a marketplace. */
  readonly keyId: string | null;
  readonly path: string;
  readonly status: number;
  /** The error code; null for a success. */
  readonly code: string | null;
  readonly durationMs: number;
  readonly credits: number;
  readonly bytesIn: number;
  readonly bytesOut: number;
  readonly faults: readonly LoggedFault[];
}

export interface RequestFilter {
  readonly statuses?: readonly [from: number, to: number] | undefined;
  readonly keyId?: string | undefined;
  /** `YYYY-MM-DD` in UTC. */
  readonly day?: string | undefined;
  /** Paths that only count if the request failed. */
  readonly quietPaths?: readonly string[] | undefined;
  /** Only requests older than this one. */
  readonly before?: { readonly at: string; readonly id: string } | undefined;
  readonly count: number;
}

const COLUMNS = 'id, account_id, at, key_id, path, status, code, duration_ms, credits, bytes_in, bytes_out, faults';
/** Rows per statement, well below the number of parameters that either database allows. */
const BATCH = 50;
/** The maximum number of index entries that one statement skips. */
const SKIPPED_ROWS = 10_000;
/** How late a request may be written: while the database is unavailable, requests wait in memory. */
const LATE_MS = 3_600_000;
const ORDER = ['at', 'id'] as const;

export class RequestLog {
  readonly #engine: Engine;

  constructor(engine: Engine) {
    this.#engine = engine;
  }

  async append(requests: readonly LoggedRequest[]): Promise<void> {
    for (let start = 0; start < requests.length; start += BATCH) {
      const batch = requests.slice(start, start + BATCH);
      await insertRows(this.#engine, 'requests', batch.map(valuesOf), 'on conflict (id) do nothing');
    }
  }

  /** Newest first. */
  async list(accountId: string, filters: RequestFilter): Promise<LoggedRequest[]> {
    const { statuses, keyId, day, quietPaths = [], before, count } = filters;
    const end: SqlCondition | undefined = day === undefined ? undefined : ['at <= :end', { end: `${day}U` }];
    const older: SqlCondition | undefined = before && compare(ORDER, '<', before);
    const from: SqlCondition | undefined = day === undefined ? undefined : ['at >= :start', { start: `${day}T` }];
    const within: SqlCondition[] = [['account_id = :accountId', { accountId }]];
    const filter: SqlCondition[] = older && end ? [end] : [];
    if (statuses)
      filter.push(['status >= :lowest and status <= :highest', { lowest: statuses[0], highest: statuses[1] }]);
    if (keyId !== undefined) filter.push(['key_id = :keyId', { keyId }]);
    for (const [index, path] of quietPaths.entries())
      filter.push([`(path <> :quiet${index} or status >= 400)`, { [`quiet${index}`]: path }]);
    const page = { columns: COLUMNS, table: 'requests', order: ORDER, within, from, before: older ?? end };
    return (await listInSteps(this.#engine, { ...page, filter, count })).map(toRequest);
  }

  async find(accountId: string, id: string): Promise<LoggedRequest | undefined> {
    const sql = `select ${COLUMNS} from requests where account_id = :accountId and id = :id`;
    const row = await first(this.#engine, sql, { accountId, id });
    return row && toRequest(row);
  }

  /** Deletes requests older than `before`. */
  async deleteBefore(before: Date): Promise<number> {
    return await deleteOldest(this.#engine, { table: 'requests', column: 'at', within: ['at < :before', { before }] });
  }

  /**
   * Deletes all but the newest `maxPerAccount` requests of each account. With `since`, only accounts with later requests are looked
   * at, because the others can't have more than before.
   */
  async trim(maxPerAccount: number, since?: Date): Promise<number> {
    let deleted = 0;
    const accounts = since === undefined ? this.#largeAccounts(maxPerAccount) : this.#accountsSince(since);
    for await (const accountId of accounts) {
      const last = await this.#nthNewest(accountId, maxPerAccount);
      if (last === undefined) continue;
      const [older, parameters] = compare(ORDER, '<', last);
      const within: SqlCondition = [`account_id = :accountId and ${older}`, { accountId, ...parameters }];
      const order = ['account_id', ...ORDER];
      deleted += await deleteOldest(this.#engine, { table: 'requests', column: 'at', within, order });
    }
    return deleted;
  }

  /** A range has at most as many rows as an account may have, so only its last account can have too many. */
  async *#largeAccounts(maxPerAccount: number): AsyncGenerator<string> {
    const rows = Math.min(maxPerAccount, SUMMED_ROWS[this.#engine.dialect]);
    const ranges = rangesOf(this.#engine, { table: 'requests', column: 'account_id', within: EVERY_ROW, rows });
    for await (const { to } of ranges) yield to;
  }

  async *#accountsSince(since: Date): AsyncGenerator<string> {
    const start = new Date(since.getTime() - LATE_MS).toISOString();
    const within: SqlCondition = ['at >= :start', { start }];
    const seen = new Set<string>();
    for await (const { after, to } of rangesOf(this.#engine, { table: 'requests', column: 'at', within })) {
      const sql = 'select distinct account_id from requests where at >= :start and at > :after and at <= :to';
      for (const row of await this.#engine.all(sql, { start, after, to })) seen.add(text(row, 'account_id'));
    }
    yield* seen;
  }

  /** Returns the time and id of the nth newest request, or undefined when the account has fewer. */
  async #nthNewest(accountId: string, n: number): Promise<SqlRow | undefined> {
    let last: SqlRow | undefined;
    for (let left = n; left > 0; left -= SKIPPED_ROWS) {
      const [older, parameters] = last === undefined ? EVERY_ROW : compare(ORDER, '<', last);
      const sql = `select at, id from requests where account_id = :accountId and ${older} order by at desc, id desc`;
      const skipped = Math.min(left, SKIPPED_ROWS) - 1;
      last = await first(this.#engine, `${sql} limit 1 offset :skipped`, { ...parameters, accountId, skipped });
      if (last === undefined) return undefined;
      await yieldToEventLoop();
    }
    return last;
  }
}

function valuesOf({ faults, ...request }: LoggedRequest): SqlParameters {
  return { ...request, faults: JSON.stringify(faults) };
}

function toRequest(row: SqlRow): LoggedRequest {
  return {
    id: text(row, 'id'),
    accountId: text(row, 'account_id'),
    at: text(row, 'at'),
    keyId: textOrNull(row, 'key_id'),
    path: text(row, 'path'),
    status: integer(row, 'status'),
    code: textOrNull(row, 'code'),
    durationMs: integer(row, 'duration_ms'),
    credits: integer(row, 'credits'),
    bytesIn: integer(row, 'bytes_in'),
    bytesOut: integer(row, 'bytes_out'),
    faults: faultsOf(row),
  };
}

/** This is checked by hand, because loading the schema library would take a quarter of a command's startup time. */
function faultsOf(row: SqlRow): LoggedRequest['faults'] {
  const faults: unknown = JSON.parse(text(row, 'faults'));
  if (Array.isArray(faults) && faults.every(isFault)) return faults;
  throw new Error('column faults must be a JSON list of faults');
}

function isFault(value: unknown): value is LoggedRequest['faults'][number] {
  return typeof value === 'object' && value !== null && 'pointer' in value && 'code' in value;
}
