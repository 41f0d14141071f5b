// Deletes accounts whose user never confirmed an address. Anyone can sign up with any address, so such accounts would
// only pile up. An account that has paid for anything, or that an operator has changed, stays.

import { setImmediate as yieldToEventLoop } from 'node:timers/promises';
import { eraseAccount } from './account-data.ts';
import { type Engine, first } from '../engine.ts';
import { ACCOUNT_VIEWED } from './operator-data.ts';
import { IN_QUEUE } from '../renders/render-claims.ts';
import { text } from '../rows.ts';
import { lockExisting } from './subscriptions.ts';
import type { Clock } from '../audit.ts';
import { type SqlCondition, rangesOf } from '../bounded/steps.ts';

const ACCOUNTS = 50;

const UNCONFIRMED: SqlCondition = ['unconfirmed_email is not null', {}];

const IS_UNUSED = `
  a.state = 'active' and a.created_at < :before
  and exists (select 1 from users u where u.account_id = a.id)
  and not exists (select 1 from users u where u.account_id = a.id and u.unconfirmed_email is null)
  and not exists (select 1 from api_keys k where k.account_id = a.id and k.mode = 'live')
  and not exists (select 1 from customers c where c.account_id = a.id)
  and not exists (select 1 from periods p where p.account_id = a.id and p.used + p.reserved + p.granted > 0)
  and not exists (select 1 from renders j where j.account_id = a.id and ${IN_QUEUE})
  and not exists (
    select 1 from audit e where e.account_id = a.id and e.action <> '${ACCOUNT_VIEWED}'
      and (e.actor like 'operator:%' or e.actor like 'cli:%'))`;

/** Erases accounts created before `before` and returns how many there were. */
export async function eraseUnconfirmed(engine: Engine, clock: Clock, before: Date): Promise<number> {
  let erased = 0;
  const users = { table: 'users', column: 'account_id', within: UNCONFIRMED, rows: ACCOUNTS };
  for await (const { after, to } of rangesOf(engine, users)) {
    const rows = await engine.all(
      `select a.id from accounts a where a.id in (
         select account_id from users where unconfirmed_email is not null and account_id > :after and account_id <= :to)
       and ${IS_UNUSED}`,
      { after, to, before },
    );
    for (const row of rows) {
      if (await eraseIfUnused(engine, text(row, 'id'), before, clock())) erased += 1;
      await yieldToEventLoop();
    }
  }
  return erased;
}

/** Returns false when the account has changed since it was found. */
async function eraseIfUnused(engine: Engine, accountId: string, before: Date, now: Date): Promise<boolean> {
  return await engine.transaction(async (session) => {
    // Locks the user, who may be confirming the address at this moment, and the account, which may be accepting a render.
    await session.run('update users set role = role where account_id = :accountId', { accountId });
    if (!(await lockExisting(session, accountId))) return false;
    const found = await first(session, `select a.id from accounts a where a.id = :accountId and ${IS_UNUSED}`, {
      accountId,
      before,
    });
    return found !== undefined && (await eraseAccount(session, accountId, 'system', now.toISOString()));
  });
}
