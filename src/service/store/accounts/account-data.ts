// Everything that is stored about one account, to export or to delete it.

import { setImmediate as yieldToEventLoop } from 'node:timers/promises';
import { type Actor, type Clock, recordAudit } from '../audit.ts';
import { TABLES } from '../copy.ts';
import type { Engine, SqlSession } from '../engine.ts';
import { type SqlRow, text } from '../rows.ts';
import { compare, EVERY_ROW, type SqlCondition, deleteInSteps, rangesOf } from '../bounded/steps.ts';
import { EXPORT_SECTIONS, type ExportSection, JSON_COLUMNS, OF_USERS } from './export-sections.ts';

export type ExportedRow = Readonly<Record<string, unknown>>;

/** Some rows of one kind. A kind with many rows comes in several batches, one after the other. */
export interface ExportedRows {
  readonly name: string;
  readonly rows: readonly ExportedRow[];
}

const BATCH = 100;
/** By this time every server knows that the keys are gone, so no request of the account is still running. */
const PURGE_AFTER_MS = 2 * 60_000;

/** These tables are deleted immediately, because they name people or give access. The others may have many rows. */
const PERSONAL = ['api_keys', 'customers', 'subscriptions'];

export class AccountData {
  readonly #engine: Engine;
  readonly #clock: Clock;

  constructor(engine: Engine, clock: Clock) {
    this.#engine = engine;
    this.#clock = clock;
  }

  /** All data of the account without secrets: no hashes, and no links that give access. */
  async *exported(accountId: string): AsyncIterable<ExportedRows> {
    for (const section of EXPORT_SECTIONS) {
      let last: SqlRow | undefined;
      for (let count = BATCH; count === BATCH; ) {
        const rows = await this.#batch(section, accountId, last);
        yield { name: section.name, rows: rows.map(toExported) };
        count = rows.length;
        await yieldToEventLoop();
        last = rows.at(-1);
      }
    }
  }

  /**
   * Deletes the account: its users, keys, sessions and plan immediately, in one transaction. The rest is deleted by
   * `purge`. Returns false when there is no such account, or it was deleted before.
   */
  async erase(accountId: string, actor: Actor): Promise<boolean> {
    const at = this.#clock().toISOString();
    return await this.#engine.transaction(async (session) => await eraseAccount(session, accountId, actor, at));
  }

  /**
   * Deletes what is left of erased accounts, in small steps, and returns the ids of the accounts that are gone
   * completely. An account that fails doesn't stop the others and is retried the next time.
   */
  async purge(onFailed: (accountId: string, error: unknown) => void): Promise<string[]> {
    const before = new Date(this.#clock().getTime() - PURGE_AFTER_MS).toISOString();
    const rows = await this.#engine.all('select id from accounts where deleted_at <= :before order by deleted_at', {
      before,
    });
    const purged: string[] = [];
    for (const row of rows) {
      const accountId = text(row, 'id');
      try {
        if (await this.#purge(accountId)) purged.push(accountId);
      } catch (error) {
        onFailed(accountId, error);
      }
    }
    return purged;
  }

  /** Returns false when another server was first. */
  async #purge(accountId: string): Promise<boolean> {
    const own: SqlCondition = ['account_id = :accountId', { accountId }];
    for (const { name, key, belongsTo } of TABLES.toReversed()) {
      if (name === 'webhook_attempts') await this.#deleteAttempts(accountId);
      if (belongsTo.includes('user_id')) await deleteInSteps(this.#engine, name, key, [OF_USERS, { accountId }]);
      if (belongsTo.includes('account_id')) await deleteInSteps(this.#engine, name, key, own);
    }
    return (await this.#engine.run('delete from accounts where id = :accountId', { accountId })) === 1;
  }

  /** Attempts have no account column of their own, and would keep their deliveries from being deleted. */
  async #deleteAttempts(accountId: string): Promise<void> {
    const deliveries = { table: 'webhook_deliveries', column: 'created_at', rows: BATCH };
    const own: SqlCondition = ['account_id = :accountId', { accountId }];
    for await (const { after, to } of rangesOf(this.#engine, { ...deliveries, within: own })) {
      const condition = `delivery_id in (
        select id from webhook_deliveries where account_id = :accountId and created_at > :after and created_at <= :to)`;
      const key = ['delivery_id', 'number'];
      await deleteInSteps(this.#engine, 'webhook_attempts', key, [condition, { accountId, after, to }]);
    }
  }

  async #batch(
    { from, columns, order }: ExportSection,
    accountId: string,
    last: SqlRow | undefined,
  ): Promise<SqlRow[]> {
    const [beyond, parameters] = last === undefined ? EVERY_ROW : compare(order, '>', last);
    const sql = `select ${columns} from ${from} and ${beyond} order by ${order.join(', ')} limit :limit`;
    return await this.#engine.all(sql, { ...parameters, accountId, limit: BATCH });
  }
}

/** See `AccountData.erase`. */
export async function eraseAccount(session: SqlSession, accountId: string, actor: Actor, at: string): Promise<boolean> {
  const marked = await session.run(
    "update accounts set state = 'suspended', name = 'Deleted account', deleted_at = :at where id = :accountId and deleted_at is null",
    { at, accountId },
  );
  if (marked === 0) return false;
  for (const { name, belongsTo } of TABLES.toReversed()) {
    if (belongsTo.includes('user_id')) {
      await session.run(`delete from ${name} where ${OF_USERS}`, { accountId });
    }
  }
  await session.run('delete from password_links where account_id = :accountId', { accountId });
  const ofUsers = 'email in (select email from users where account_id = :accountId)';
  await session.run(`delete from password_links where ${ofUsers}`, { accountId });
  for (const name of ['users', ...PERSONAL]) {
    await session.run(`delete from ${name} where account_id = :accountId`, { accountId });
  }
  await recordAudit(session, at, { actor, action: 'account.deleted', accountId: null, subject: accountId });
  return true;
}

function toExported(row: SqlRow): Readonly<Record<string, unknown>> {
  return Object.fromEntries(
    Object.entries(row).map(([name, value]) => {
      const isJson = JSON_COLUMNS.has(name) && typeof value === 'string';
      return [name, isJson ? (JSON.parse(value) as unknown) : value];
    }),
  );
}
