import type { Engine, SqlSession } from './engine.ts';
import type { Actor, Audit, AuditEntry } from './store.ts';

/** The clock of the store, so that tests can move it. */
export type Clock = () => Date;

export interface AuditNote {
  readonly actor: Actor;
  readonly action: string;
  readonly accountId: string | null;
  readonly subject: string;
  readonly details?: Readonly<Record<string, unknown>>;
}

/** Inside the transaction that makes the change. */
export async function note(session: SqlSession, at: string, entry: AuditNote): Promise<void> {
  await session.run('insert into audit (at, actor, action, account_id, subject, details) values (?, ?, ?, ?, ?, ?)', [
    at,
    entry.actor,
    entry.action,
    entry.accountId,
    entry.subject,
    JSON.stringify(entry.details ?? {}),
  ]);
}

interface Row extends Omit<AuditEntry, 'details'> {
  readonly details: string;
}

export class SqlAudit implements Audit {
  readonly #engine: Engine;

  constructor(engine: Engine) {
    this.#engine = engine;
  }

  async list({ accountId, before, count }: Parameters<Audit['list']>[0]): Promise<AuditEntry[]> {
    const rows = await this.#engine.all<Row>(
      `select seq, at, actor, action, account_id as "accountId", subject, details from audit
       where seq < ? ${accountId === undefined ? '' : 'and account_id = ?'} order by seq desc limit ?`,
      [before ?? Number.MAX_SAFE_INTEGER, ...(accountId === undefined ? [] : [accountId]), count],
    );
    return rows.map((row) => ({ ...row, details: JSON.parse(row.details) as AuditEntry['details'] }));
  }
}
