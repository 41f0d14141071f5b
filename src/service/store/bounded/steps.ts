// Works on many rows in small steps with a pause after each. On SQLite a statement blocks the whole server, so each
// statement reads or changes only as many rows as a few milliseconds allow.

import { setImmediate as yieldToEventLoop } from 'node:timers/promises';
import { must } from '../../../shared/must.ts';
import { type Engine, first } from '../engine.ts';
import { type SqlParameters, type SqlRow, storedValue, text } from '../rows.ts';

/**
 * A condition or another part of a statement, and its parameters. Conditions that are used together need different
 * parameter names.
 */
export type SqlCondition = readonly [sql: string, parameters: SqlParameters];

/** PostgreSQL blocks nothing else, so its steps are longer. */
const CHANGED_ROWS = { sqlite: 20, postgres: 500 } as const;
const LISTED_ROWS = { sqlite: 250, postgres: 2_000 } as const;
/** Rows of an account are scattered over the table, so that even on a slow disk this many take far less than the statement timeout. */
const SCANNED_ROWS = { sqlite: 250, postgres: 2_000 } as const;
export const SUMMED_ROWS = { sqlite: 500, postgres: 5_000 } as const;

export const EVERY_ROW: SqlCondition = ['1 = 1', {}];

function allOf(conditions: readonly (SqlCondition | undefined)[]): SqlCondition {
  const given = conditions.filter((condition) => condition !== undefined);
  if (given.length === 0) return EVERY_ROW;
  const parameters: Record<string, SqlParameters[string]> = {};
  for (const [name, value] of given.flatMap(([, each]) => Object.entries(each))) {
    if (name in parameters && parameters[name] !== value) throw new Error(`two conditions have a parameter :${name}`);
    parameters[name] = value;
  }
  return [given.map(([sql]) => sql).join(' and '), parameters];
}

/** Deletes all rows that match, and returns their number. An index must cover the condition. */
export async function deleteInSteps(
  engine: Engine,
  table: string,
  key: readonly string[],
  condition: SqlCondition,
): Promise<number> {
  return await changeInSteps(engine, [`delete from ${table}`, {}], { table, key, condition });
}

/**
 * Deletes all rows with an `id` that match, oldest first, and returns their number. The time needs an index. Each step begins where
 * the last one ended, because PostgreSQL would otherwise read all rows that were deleted before again.
 */
export async function deleteOldest(
  engine: Engine,
  { table, column, within, order = [column] }: OldestRows,
): Promise<number> {
  const rows = CHANGED_ROWS[engine.dialect];
  const [condition, parameters] = within;
  const oldest = `select id from ${table} where ${condition} and ${column} >= :from order by ${order.join(', ')} limit :rows`;
  const sql = `delete from ${table} where id in (${oldest}) returning ${column} as bound`;
  let total = 0;
  for (let from = ''; ; await yieldToEventLoop()) {
    const deleted = await engine.all(sql, { ...parameters, from, rows });
    total += deleted.length;
    // Another server may delete the same rows at the same time, so a short step doesn't mean that no rows are left.
    if (deleted.length < rows && (await engine.all(oldest, { ...parameters, from, rows: 1 })).length === 0)
      return total;
    from = deleted.map((row) => text(row, 'bound')).reduce((last, bound) => (bound > last ? bound : last), from);
  }
}

interface OldestRows {
  readonly table: string;
  /** The time. */
  readonly column: string;
  readonly within: SqlCondition;
  /** The columns of the index, where it has others before the time. The whole order makes PostgreSQL use it. */
  readonly order?: readonly string[];
}

/**
 * PostgreSQL finds the rows first and waits for those that another transaction is changing. It then looks only at the conditions of
 * the statement itself again, so they are repeated there. SQLite has no other transaction meanwhile.
 */
function stillMatches({ dialect }: Engine, condition: string): string {
  return dialect === 'postgres' ? ` and (${condition})` : '';
}

/** Updates all rows that match, and returns their number. A changed row must not match any more. */
export async function changeInSteps(
  engine: Engine,
  [change, values]: SqlCondition,
  rows: { readonly table: string; readonly key: readonly string[]; readonly condition: SqlCondition },
): Promise<number> {
  const columns = rows.key.join(', ');
  const [condition, parameters] = rows.condition;
  const some = `select ${columns} from ${rows.table} where ${condition} limit :rows`;
  const step = CHANGED_ROWS[engine.dialect];
  for (let total = 0; ; await yieldToEventLoop()) {
    const sql = `${change} where (${columns}) in (${some})${stillMatches(engine, condition)}`;
    const changed = await engine.run(sql, { ...values, ...parameters, rows: step });
    total += changed;
    // Another server may change the same rows at the same time, so a short step doesn't mean that no rows are left.
    if (changed < step && (await engine.all(some, { ...parameters, rows: 1 })).length === 0) return total;
  }
}

/** A page of a list, newest first. */
export interface SteppedList {
  readonly columns: string;
  readonly table: string;
  /** Columns of an index, after those that `within` compares with one value. `columns` must contain them. */
  readonly order: readonly string[];
  readonly within: readonly SqlCondition[];
  /** The start and end of the list, as conditions on `order`. */
  readonly before?: SqlCondition | undefined;
  readonly from?: SqlCondition | undefined;
  /** Conditions that no index covers. */
  readonly filter: readonly SqlCondition[];
  readonly count: number;
}

/** Reads until the page is full or there are no more rows, however many of them the filter leaves out. */
export async function listInSteps(engine: Engine, list: SteppedList): Promise<SqlRow[]> {
  const { columns, table, order, within, filter, count } = list;
  const names = order.join(', ');
  const sorted = `order by ${order.map((name) => `${name} desc`).join(', ')}`;
  const found: SqlRow[] = [];
  // With two conditions for the same end, SQLite might begin at the wrong one, so each step replaces both.
  for (let before = list.before; ; await yieldToEventLoop()) {
    const [rest, parameters] = allOf([...within, before, list.from]);
    // `bound` is the last row that this step looks at. Without a filter, that is the last row that it finds.
    const bound =
      filter.length > 0
        ? await first(engine, `select ${names} from ${table} where ${rest} ${sorted} limit 1 offset :skipped`, {
            ...parameters,
            skipped: SCANNED_ROWS[engine.dialect] - 1,
          })
        : undefined;
    const from = bound ? compare(order, '>=', bound) : list.from;
    const [condition, values] = allOf([...within, before, from, ...filter]);
    const limit = Math.min(count - found.length, LISTED_ROWS[engine.dialect]);
    const sql = `select ${columns} from ${table} where ${condition} ${sorted} limit :limit`;
    const rows = await engine.all(sql, { ...values, limit });
    found.push(...rows);
    if (found.length >= count || (rows.length < limit && bound === undefined)) return found;
    const last = rows.length === limit || bound === undefined ? must(rows.at(-1), 'the last row') : bound;
    before = compare(order, '<', last);
  }
}

/** Compares rows with this one in the order of the columns. A column may be qualified with its table. */
export function compare(order: readonly string[], operator: '<' | '>' | '>=', row: SqlRow): SqlCondition {
  const columns = order.map((name) => name.replace(/^.*\./u, ''));
  // Two conditions of a list can refer to different rows, one for each end, so each end has its own parameter names.
  const named = columns.map((column) => `${operator === '<' ? 'before' : 'from'}_${column}`);
  const parameters = Object.fromEntries(named.map((name, index) => [name, storedValue(row, columns[index] ?? '')]));
  return [`(${order.join(', ')}) ${operator} (${named.map((name) => `:${name}`).join(', ')})`, parameters];
}

/**
 * Divides rows into ranges of a text column with few rows each, lowest first: those above `after` and up to `to`. The
 * column must follow those that `within` compares with one value in an index.
 */
export async function* rangesOf(
  engine: Engine,
  {
    table,
    column,
    within,
    rows = SUMMED_ROWS[engine.dialect],
  }: { table: string; column: string; within: SqlCondition; rows?: number },
): AsyncGenerator<{ readonly after: string; readonly to: string }> {
  const [condition, parameters] = within;
  for (let after = ''; ; await yieldToEventLoop()) {
    const sql = `select ${column} as bound from ${table} where ${condition} and ${column} > :after order by ${column}`;
    const full = await first(engine, `${sql} limit 1 offset :skipped`, { ...parameters, after, skipped: rows - 1 });
    const last = full ?? (await first(engine, `${sql} desc limit 1`, { ...parameters, after }));
    if (last === undefined) return;
    const to = text(last, 'bound');
    yield { after, to };
    if (full === undefined) return;
    after = to;
  }
}
