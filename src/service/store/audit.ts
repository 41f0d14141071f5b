import { type Engine, type SqlSession, insertRow } from './engine.ts';
import { integer, jsonObject, type SqlRow, text, textOrNull } from './rows.ts';
import { type SqlCondition, listInSteps } from './bounded/steps.ts';

export interface AuditEntry {
  readonly seq: number;
  readonly at: string;
  readonly actor: Actor;
  readonly action: string;
  readonly accountId: string | null;
  readonly subject: string;
  readonly details: Readonly<Record<string, unknown>>;
}

export interface AuditFilter {
  readonly accountId?: string | undefined;
  /** Only entries whose action starts with this, such as `key.`. */
  readonly action?: string | undefined;
  /** Only entries by this one, or by one of these. */
  readonly actor?: Actor | readonly Actor[] | undefined;
  /** Only entries before this number. */
  readonly before?: number | undefined;
  readonly count: number;
}

/**
 * The author of a change, as the audit log shows it: `cli:<user>`, `account:<id>`, `user:<id>`, `operator:<id>`,
 * `marketplace:<name>`, `stripe` or `system`.
 */
export type Actor = string;

/** The clock of the store, which tests can set. */
export type Clock = () => Date;

export interface NewAuditEntry {
  readonly actor: Actor;
  readonly action: string;
  readonly accountId: string | null;
  readonly subject: string;
  readonly details?: Readonly<Record<string, unknown>>;
}

/** Writes an audit entry. Call it in the transaction that makes the change. */
export async function recordAudit(session: SqlSession, at: string, entry: NewAuditEntry): Promise<void> {
  await insertRow(session, 'audit', {
    at,
    actor: entry.actor,
    action: entry.action,
    accountId: entry.accountId,
    subject: entry.subject,
    details: JSON.stringify(entry.details ?? {}),
  });
}

export class Audit {
  readonly #engine: Engine;

  constructor(engine: Engine) {
    this.#engine = engine;
  }

  async list({ accountId, action, actor, before, count }: AuditFilter): Promise<AuditEntry[]> {
    const within: SqlCondition[] = accountId === undefined ? [] : [['account_id = :accountId', { accountId }]];
    const filter: SqlCondition[] = [];
    if (action !== undefined) filter.push(['substr(action, 1, :length) = :action', { length: action.length, action }]);
    if (actor !== undefined) filter.push(byOneOf([actor].flat()));
    const columns = 'seq, at, actor, action, account_id, subject, details';
    const from: SqlCondition = ['seq > :seq', { seq: 0 }];
    const older: SqlCondition = ['seq < :before', { before: before ?? Number.MAX_SAFE_INTEGER }];
    const list = { columns, table: 'audit', order: ['seq'], within, before: older, from, filter, count };
    const rows = await listInSteps(this.#engine, list);
    return rows.map(toEntry);
  }
}

function byOneOf(actors: readonly Actor[]): SqlCondition {
  const parameters = Object.fromEntries(actors.map((actor, index) => [`actor${index}`, actor]));
  return [
    `actor in (${Object.keys(parameters)
      .map((name) => `:${name}`)
      .join(', ')})`,
    parameters,
  ];
}

function toEntry(row: SqlRow): AuditEntry {
  return {
    seq: integer(row, 'seq'),
    at: text(row, 'at'),
    actor: text(row, 'actor'),
    action: text(row, 'action'),
    accountId: textOrNull(row, 'account_id'),
    subject: text(row, 'subject'),
    details: jsonObject(row, 'details'),
  };
}
