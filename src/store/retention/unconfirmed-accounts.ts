// Removes accounts whose user never confirmed an address. Anyone can sign up with any address, so such accounts would only
// pile up. One that has paid for anything, or that an operator has changed, stays.

import { setImmediate as yieldToEventLoop } from 'node:timers/promises';
import { TABLES } from '../copy.ts';
import { type Engine, first, type SqlSession } from '../engine.ts';
import { text } from '../rows.ts';
import { type Clock, recordAudit } from '../sql-audit.ts';

const ACCOUNTS = 100;
const ROWS = 500;

/** Objects in storage are deleted first, by the retention of renders, so their rows must be gone. */
const IS_UNUSED = `
  a.state = 'active' and a.created_at < ?
  and exists (select 1 from users u where u.account_id = a.id)
  and not exists (select 1 from users u where u.account_id = a.id and u.unconfirmed_email is null)
  and not exists (select 1 from api_keys k where k.account_id = a.id and k.mode = 'live')
  and not exists (select 1 from customers c where c.account_id = a.id)
  and not exists (select 1 from periods p where p.account_id = a.id and p.used + p.reserved > 0)
  and not exists (select 1 from render_jobs j where j.account_id = a.id
                  and (j.has_asset = 1 or j.has_output = 1 or j.status in ('queued', 'rendering')))`;

/** Everything of the account but the audit log, each table before those it references. */
const TABLES_OF_ACCOUNT = TABLES.filter(
  ({ name, columns }) => name !== 'audit' && columns.includes('account_id'),
).toReversed();

/** Returns how many accounts from before `before` were removed. */
export async function removeUnconfirmed(engine: Engine, clock: Clock, before: Date): Promise<number> {
  let removed = 0;
  for (let last = ''; ; ) {
    const rows = await engine.all(
      `select a.id from accounts a where a.id > ?
       and a.id in (select account_id from users where unconfirmed_email is not null) and ${IS_UNUSED}
       order by a.id limit ?`,
      [last, before.toISOString(), ACCOUNTS],
    );
    for (const row of rows) {
      last = text(row, 'id');
      if (await removeAccount(engine, last, before, clock())) removed += 1;
      await yieldToEventLoop();
    }
    if (rows.length < ACCOUNTS) return removed;
  }
}

/** False when the account has changed since it was found. */
async function removeAccount(engine: Engine, accountId: string, before: Date, now: Date): Promise<boolean> {
  // The log of requests can be long, so it isn't deleted in one transaction with the rest.
  for (let deleted = ROWS; deleted === ROWS; await yieldToEventLoop()) {
    deleted = await engine.run(
      'delete from requests where id in (select id from requests where account_id = ? limit ?)',
      [accountId, ROWS],
    );
  }
  return await engine.transaction(async (session) => {
    // Locks the user, who may be confirming the address at this moment.
    await session.run('update users set role = role where account_id = ?', [accountId]);
    const found = await first(session, `select a.id from accounts a where a.id = ? and ${IS_UNUSED}`, [
      accountId,
      before.toISOString(),
    ]);
    if (found === undefined) return false;
    await deleteRows(session, accountId);
    await recordAudit(session, now.toISOString(), {
      ...{ actor: 'system', action: 'account.removed', accountId, subject: accountId },
      details: { reason: 'unconfirmed' },
    });
    return true;
  });
}

async function deleteRows(session: SqlSession, accountId: string): Promise<void> {
  for (const name of ['sessions', 'password_links']) {
    await session.run(`delete from ${name} where user_id in (select id from users where account_id = ?)`, [accountId]);
  }
  for (const { name } of TABLES_OF_ACCOUNT) await session.run(`delete from ${name} where account_id = ?`, [accountId]);
  await session.run('delete from accounts where id = ?', [accountId]);
}
