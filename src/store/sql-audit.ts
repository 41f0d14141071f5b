import type { Actor } from './actor.ts';
import { type Engine, type SqlSession, insertRow } from './engine.ts';
import { integer, jsonObject, type SqlRow, text, textOrNull } from './rows.ts';
import { type SqlCondition, listInSteps } from './bounded/steps.ts';
import type { Audit, AuditEntry, AuditFilter } from './store.ts';

/** The clock of the store, which tests can set. */
export type Clock = () => Date;

export interface NewAuditEntry {
  readonly actor: Actor;
  readonly action: string;
  readonly accountId: string | null;
  readonly subject: string;
  readonly details?: Readonly<Record<string, unknown>>;
}

/** Belongs in the transaction that makes the change. */
export async function recordAudit(session: SqlSession, at: string, entry: NewAuditEntry): Promise<void> {
  await insertRow(session, 'audit', {
    at,
    actor: entry.actor,
    action: entry.action,
    account_id: entry.accountId,
    subject: entry.subject,
    details: JSON.stringify(entry.details ?? {}),
  });
}

export class SqlAudit implements Audit {
  readonly #engine: Engine;

  constructor(engine: Engine) {
    this.#engine = engine;
  }

  async list({ accountId, action, actor, before, count }: AuditFilter): Promise<AuditEntry[]> {
    const within: SqlCondition[] = accountId === undefined ? [] : [['account_id = :accountId', { accountId }]];
    const filter: SqlCondition[] = [];
    if (action !== undefined) filter.push(['substr(action, 1, :length) = :action', { length: action.length, action }]);
    if (actor !== undefined) filter.push(['actor = :actor', { actor }]);
    const columns = 'seq, at, actor, action, account_id, subject, details';
    const from: SqlCondition = ['seq > :seq', { seq: 0 }];
    const older: SqlCondition = ['seq < :before', { before: before ?? Number.MAX_SAFE_INTEGER }];
    const list = { columns, table: 'audit', order: ['seq'], within, before: older, from, filter, count };
    const rows = await listInSteps(this.#engine, list);
    return rows.map(toEntry);
  }
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
