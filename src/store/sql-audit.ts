import type { Actor } from './actor.ts';
import type { Engine, SqlSession } from './engine.ts';
import { integer, jsonObject, type SqlRow, type SqlValue, text, textOrNull } from './rows.ts';
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
  await session.run('insert into audit (at, actor, action, account_id, subject, details) values (?, ?, ?, ?, ?, ?)', [
    at,
    entry.actor,
    entry.action,
    entry.accountId,
    entry.subject,
    JSON.stringify(entry.details ?? {}),
  ]);
}

export class SqlAudit implements Audit {
  readonly #engine: Engine;

  constructor(engine: Engine) {
    this.#engine = engine;
  }

  async list({ accountId, action, actor, before, count }: AuditFilter): Promise<AuditEntry[]> {
    const conditions: [sql: string, values: readonly SqlValue[]][] = [
      ['seq < ?', [before ?? Number.MAX_SAFE_INTEGER]],
      ...(accountId === undefined ? [] : [['account_id = ?', [accountId]] as [string, SqlValue[]]]),
      ...(action === undefined ? [] : [['substr(action, 1, ?) = ?', [action.length, action]] as [string, SqlValue[]]]),
      ...(actor === undefined ? [] : [['actor = ?', [actor]] as [string, SqlValue[]]]),
    ];
    const rows = await this.#engine.all(
      `select seq, at, actor, action, account_id, subject, details from audit
       where ${conditions.map(([sql]) => sql).join(' and ')} order by seq desc limit ?`,
      [...conditions.flatMap(([, values]) => values), count],
    );
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
