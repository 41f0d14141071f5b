// Only PostgreSQL runs two transactions at the same time.

import { expect, inject, it } from 'vitest';
import { eraseAccount } from '../../src/service/store/accounts/account-data.ts';
import type { User } from '../../src/service/store/people/user.ts';
import { NO_POSTGRES } from '../postgres-server.ts';
import { postgresDatabase } from './databases.ts';
import { DAY, World } from './world.ts';

const url = inject('postgresUrl');
const suffix = url === '' ? `: ${NO_POSTGRES}` : '';

it.skipIf(url === '')(`an invitation cannot be accepted while the account is erased${suffix}`, async () => {
  const world = await World.begin(await postgresDatabase(url));
  const accountId = await world.account();
  const expiresAt = new Date(world.clock().getTime() + DAY);
  await world.store.members.invite('i', { accountId, email: 'bob@x.com', accountRole: 'member', expiresAt }, 'cli:x');
  const [other, watching] = [await world.server('there/1'), await world.database.open()];
  const untilBlocked = async (): Promise<void> => {
    const waiting = `select 1 as one from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`;
    while ((await watching.all(waiting)).length === 0);
  };
  let joining: Promise<User | undefined> | undefined;
  await world.engine.transaction(async (session) => {
    await eraseAccount(session, accountId, 'cli:x', world.clock().toISOString());
    joining = other.members.accept('i', 'hash');
    await Promise.race([joining, untilBlocked()]);
  });
  expect(await joining).toBeUndefined();
  expect(await world.store.users.list(accountId)).toEqual([]);
  await world.database.remove();
});
