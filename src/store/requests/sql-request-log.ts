import { setImmediate as yieldToEventLoop } from 'node:timers/promises';
import { type Engine, first } from '../engine.ts';
import { integer, type SqlRow, type SqlValue, text, textOrNull } from '../rows.ts';
import type { LoggedRequest, RequestFilter, RequestLog } from './request-log.ts';

const COLUMNS = 'id, account_id, at, key_id, path, status, code, duration_ms, credits, bytes_in, bytes_out, faults';
/** Rows per statement, well below the number of parameters that either database allows. */
const BATCH = 50;
const DELETE_BATCH = 500;
const ROW = `(${COLUMNS.split(', ')
  .map(() => '?')
  .join(', ')})`;

export class SqlRequestLog implements RequestLog {
  readonly #engine: Engine;

  constructor(engine: Engine) {
    this.#engine = engine;
  }

  async append(requests: readonly LoggedRequest[]): Promise<void> {
    for (let start = 0; start < requests.length; start += BATCH) {
      const batch = requests.slice(start, start + BATCH);
      await this.#engine.run(
        `insert into requests (${COLUMNS}) values ${batch.map(() => ROW).join(', ')} on conflict (id) do nothing`,
        batch.flatMap(valuesOf),
      );
    }
  }

  async list(accountId: string, filter: RequestFilter): Promise<LoggedRequest[]> {
    const { statuses, keyId, day, before, count } = filter;
    const conditions: [sql: string, values: readonly SqlValue[]][] = [['account_id = ?', [accountId]]];
    if (statuses) conditions.push(['status >= ? and status <= ?', statuses]);
    if (keyId !== undefined) conditions.push(['key_id = ?', [keyId]]);
    if (day !== undefined) conditions.push(['at >= ? and at <= ?', [`${day}T`, `${day}U`]]);
    if (before) conditions.push(['(at, id) < (?, ?)', [before.at, before.id]]);
    const rows = await this.#engine.all(
      `select ${COLUMNS} from requests where ${conditions.map(([sql]) => sql).join(' and ')}
       order by at desc, id desc limit ?`,
      [...conditions.flatMap(([, values]) => values), count],
    );
    return rows.map(toRequest);
  }

  async find(accountId: string, id: string): Promise<LoggedRequest | undefined> {
    const sql = `select ${COLUMNS} from requests where account_id = ? and id = ?`;
    const row = await first(this.#engine, sql, [accountId, id]);
    return row && toRequest(row);
  }

  async trim(before: Date, maxPerAccount: number): Promise<number> {
    let deleted = await this.#deleteInBatches('at < ?', [before.toISOString()]);
    const crowded = await this.#engine.all('select account_id from requests group by account_id having count(*) > ?', [
      maxPerAccount,
    ]);
    for (const row of crowded) {
      const accountId = text(row, 'account_id');
      // The newest request that is one too many.
      const sql = 'select at, id from requests where account_id = ? order by at desc, id desc limit 1 offset ?';
      const last = await first(this.#engine, sql, [accountId, maxPerAccount]);
      if (last === undefined) continue;
      const values = [accountId, text(last, 'at'), text(last, 'id')];
      deleted += await this.#deleteInBatches('account_id = ? and (at, id) <= (?, ?)', values);
    }
    return deleted;
  }

  /** With a pause after each batch, so that neither the server nor writers to the database wait for all of them. */
  async #deleteInBatches(condition: string, values: readonly SqlValue[]): Promise<number> {
    let total = 0;
    for (let deleted = DELETE_BATCH; deleted === DELETE_BATCH; await yieldToEventLoop()) {
      deleted = await this.#engine.run(
        `delete from requests where id in (select id from requests where ${condition} limit ?)`,
        [...values, DELETE_BATCH],
      );
      total += deleted;
    }
    return total;
  }
}

function valuesOf(request: LoggedRequest): SqlValue[] {
  const { id, accountId, at, keyId, path, status, code, durationMs, credits, bytesIn, bytesOut, faults } = request;
  const facts = [id, accountId, at, keyId, path, status, code];
  return [...facts, durationMs, credits, bytesIn, bytesOut, JSON.stringify(faults)];
}

function toRequest(row: SqlRow): LoggedRequest {
  return {
    id: text(row, 'id'),
    accountId: text(row, 'account_id'),
    at: text(row, 'at'),
    keyId: textOrNull(row, 'key_id'),
    path: text(row, 'path'),
    status: integer(row, 'status'),
    code: text(row, 'code'),
    durationMs: integer(row, 'duration_ms'),
    credits: integer(row, 'credits'),
    bytesIn: integer(row, 'bytes_in'),
    bytesOut: integer(row, 'bytes_out'),
    faults: faultsOf(row),
  };
}

/** Checked by hand: the library for schemas would take a quarter of the time that a command needs to start. */
function faultsOf(row: SqlRow): LoggedRequest['faults'] {
  const faults: unknown = JSON.parse(text(row, 'faults'));
  if (Array.isArray(faults) && faults.every(isFault)) return faults;
  throw new Error('column faults must be a JSON list of faults');
}

function isFault(value: unknown): value is LoggedRequest['faults'][number] {
  return typeof value === 'object' && value !== null && 'pointer' in value && 'code' in value;
}
