// Rows that change while a sweep waits for them. Only PostgreSQL runs two transactions at a time.

import { afterEach, beforeEach, describe, expect, inject, it } from 'vitest';
import { must } from '../../src/shared/must.ts';
import type { SqlSession } from '../../src/service/store/engine.ts';
import { NO_POSTGRES } from '../postgres-server.ts';
import { until } from '../running-server.ts';
import { postgresDatabase } from './databases.ts';
import { webhookSetup } from './webhook-setup.ts';
import { DAY, World } from './world.ts';

const url = inject('postgresUrl');
const WAITING = "select 1 as one from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'";

describe.skipIf(url === '')(`sweeps on PostgreSQL${url === '' ? `: ${NO_POSTGRES}` : ''}`, () => {
  let world: World;
  const { attempt, OK, endpoint, pending, claimOne } = webhookSetup(() => world);
  beforeEach(async () => {
    world = await World.begin(await postgresDatabase(url));
  });
  afterEach(async () => await world.database.remove());

  /** Makes the change, and commits it when the sweep has ended or waits for that. */
  async function sweepDuring(change: (session: SqlSession) => Promise<unknown>, sweep: () => Promise<unknown>) {
    const [other, observer] = [await world.database.open(), await world.database.open()];
    let isSwept = false;
    let sweeping: Promise<unknown> | undefined;
    await other.transaction(async (session) => {
      await change(session);
      sweeping = sweep().finally(() => {
        isSwept = true;
      });
      await until(async () => isSwept || (await observer.all(WAITING)).length > 0);
    });
    await must(sweeping, 'the sweep');
  }

  it('a sweep in steps leaves a row that no longer matches when its lock is free', async () => {
    const accountId = await world.account();
    const { idempotency } = world.store;
    await idempotency.claim(accountId, 'k', { fingerprint: 'fp' }, 'r1');
    world.pass(2 * DAY);
    const later = new Date(world.clock().getTime() + DAY).toISOString();
    await sweepDuring(
      async (session) => await session.run('update idempotency set expires_at = :later', { later }),
      async () => await idempotency.removeExpired(),
    );
    expect(await world.engine.all('select key from idempotency')).toEqual([{ key: 'k' }]);
  });

  it('an old webhook that is being sent again is not deleted', async () => {
    const { webhookDeliveries } = world.store;
    const accountId = await world.account();
    const id = await endpoint(accountId);
    const deliveryId = await pending(accountId, id);
    await webhookDeliveries.endAttempt(await claimOne(), attempt(OK), { kind: 'succeeded' });
    world.pass(40 * DAY);
    await sweepDuring(
      async (session) => await session.run("update webhook_deliveries set status = 'pending', is_due = 1"),
      async () => await webhookDeliveries.deleteBefore(world.clock()),
    );
    const details = await webhookDeliveries.details(accountId, deliveryId);
    expect(details).toMatchObject({ delivery: { status: 'pending' }, attempts: [{}] });
  });
});
