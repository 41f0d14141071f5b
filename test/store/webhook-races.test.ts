// A webhook that is added while another server disables its endpoint. Only PostgreSQL runs two transactions at a time.

import { afterEach, beforeEach, describe, expect, inject, it } from 'vitest';
import { must } from '../../src/shared/must.ts';
import { endPending } from '../../src/service/store/webhooks/webhook-endpoints.ts';
import { NO_POSTGRES } from '../postgres-server.ts';
import { until } from '../running-server.ts';
import { postgresDatabase } from './databases.ts';
import { webhookSetup } from './webhook-setup.ts';
import { World } from './world.ts';

const url = inject('postgresUrl');
const WAITING = "select 1 as one from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'";

describe.skipIf(url === '')(`webhooks on PostgreSQL${url === '' ? `: ${NO_POSTGRES}` : ''}`, () => {
  let world: World;
  const { message, attempt, OK, endpoint, pending, claimOne, canceledRender } = webhookSetup(() => world);
  beforeEach(async () => {
    world = await World.begin(await postgresDatabase(url));
  });
  afterEach(async () => await world.database.remove());

  /** Disables the endpoint, and commits when `add` has finished or waits for that. */
  async function whileDisabling(endpointId: string, add: () => Promise<unknown>): Promise<unknown> {
    const [other, observer] = [await world.database.open(), await world.database.open()];
    let isAdded = false;
    let adding: Promise<unknown> | undefined;
    await other.transaction(async (session) => {
      await session.run("update webhook_endpoints set state = 'disabled' where id = :endpointId", { endpointId });
      adding = add().finally(() => {
        isAdded = true;
      });
      await until(async () => isAdded || (await observer.all(WAITING)).length > 0);
    });
    await endPending(other, endpointId, 'The endpoint was disabled.', world.clock().toISOString());
    return await must(adding, 'the change');
  }

  it('publishes no event to an endpoint that is being disabled', async () => {
    const { webhookDeliveries } = world.store;
    const accountId = await world.account();
    const [id, kept] = [await endpoint(accountId), await endpoint(accountId)];
    const event = await canceledRender(accountId);
    const receiver = { webhookUrl: undefined, batchId: undefined };
    expect(await whileDisabling(id, async () => await webhookDeliveries.publish(event, message(), receiver))).toBe(1);
    const deliveries = await webhookDeliveries.list(accountId, { limit: 10 });
    expect(deliveries.map(({ endpointId }) => endpointId)).toEqual([kept]);
  });

  it('sends no test event to an endpoint that is being disabled', async () => {
    const { webhookDeliveries } = world.store;
    const accountId = await world.account();
    const id = await endpoint(accountId);
    const sent = await whileDisabling(id, async () => await webhookDeliveries.send(accountId, id, message()));
    expect(sent).toBeUndefined();
    expect(await webhookDeliveries.list(accountId, { limit: 10 })).toEqual([]);
  });

  it('sends no delivery again whose endpoint is being disabled', async () => {
    const { webhookDeliveries } = world.store;
    const accountId = await world.account();
    const id = await endpoint(accountId);
    const deliveryId = await pending(accountId, id);
    await webhookDeliveries.endAttempt(await claimOne(), attempt(OK), { kind: 'succeeded' });
    expect(await whileDisabling(id, async () => await webhookDeliveries.sendAgain(accountId, deliveryId))).toBe(false);
    expect(await webhookDeliveries.find(accountId, deliveryId)).toMatchObject({ status: 'succeeded' });
  });
});
