// Turns an event of the outbox into deliveries, in the transaction that ends the event.

import { createHash, randomUUID } from 'node:crypto';
import { type SqlSession, insertRow } from '../engine.ts';
import type { RenderEvent } from '../renders/render.ts';
import { toEndpoint } from './webhook-rows.ts';
import type { WebhookEndpoint, WebhookMessage } from './webhook.ts';

interface Publication {
  readonly event: RenderEvent;
  readonly message: WebhookMessage;
  readonly webhookUrl: string | undefined;
  readonly batchId: string | undefined;
}

/** Returns undefined when another server has handled the event. */
export async function publishEvent(
  session: SqlSession,
  { event, message, webhookUrl, batchId }: Publication,
  at: string,
): Promise<number | undefined> {
  const { accountId } = event;
  const handled = 'update render_events set handled_at = :at where id = :id and handled_at is null';
  if ((await session.run(handled, { at, id: event.id })) === 0) return undefined;
  if (batchId !== undefined) await addBatchEvent(session, accountId, batchId, at);
  if (await isSuspended(session, accountId)) return 0;
  const endpoints = await receivers(session, event);
  const added = endpoints.length + (webhookUrl === undefined ? 0 : 1);
  if (added === 0) return 0;
  await insertRow(session, 'webhook_messages', {
    id: message.id,
    accountId,
    type: message.type,
    body: message.body,
    createdAt: at,
  });
  const messageId = message.id;
  for (const { id, url } of endpoints) await addDelivery(session, { accountId, messageId, endpointId: id, url }, at);
  if (webhookUrl !== undefined) {
    await addDelivery(session, { accountId, messageId, endpointId: undefined, url: webhookUrl }, at);
  }
  return added;
}

async function isSuspended(session: SqlSession, accountId: string): Promise<boolean> {
  return (
    (await session.all("select 1 as one from accounts where id = :accountId and state = 'suspended'", { accountId }))
      .length > 0
  );
}

async function receivers(session: SqlSession, { accountId, type }: RenderEvent): Promise<WebhookEndpoint[]> {
  const rows = await session.all(
    "select * from webhook_endpoints where account_id = :accountId and state = 'enabled' order by created_at, id",
    { accountId },
  );
  const wanted = rows.map(toEndpoint).filter(({ events }) => events.length === 0 || events.includes(type));
  const locked: WebhookEndpoint[] = [];
  // The order is always the same, so that two servers don't wait for each other.
  for (const { id } of wanted) locked.push(...(await lockEnabled(session, accountId, id)));
  return locked;
}

/**
 * Locks the endpoint until the end of the transaction, so that it can't be disabled or deleted. That would end its
 * pending deliveries but miss the one that is being added. Returns an empty list when it isn't enabled any more.
 */
export async function lockEnabled(
  session: SqlSession,
  accountId: string,
  endpointId: string,
): Promise<WebhookEndpoint[]> {
  const rows = await session.all(
    "update webhook_endpoints set url = url where account_id = :accountId and id = :endpointId and state = 'enabled' returning *",
    { accountId, endpointId },
  );
  return rows.map(toEndpoint);
}

/**
 * Several renders may be the last one at the same time. The event has the id of the batch, so it is added only once.
 */
export async function addBatchEvent(
  session: SqlSession,
  accountId: string,
  batchId: string,
  at: string,
): Promise<void> {
  await session.run(
    `insert into render_events (id, account_id, render_id, type, created_at)
     select :batchId, :accountId, :batchId, 'batch.completed', :at
     where not exists (select 1 from renders where batch_id = :batchId and status in ('queued', 'rendering'))
     on conflict (id) do nothing`,
    { batchId, accountId, at },
  );
}

/** Enough lanes that receivers rarely share one, and few enough to look at each of them for every claim. */
const LANES_OF_ACCOUNT = 16;

interface NewWebhookDelivery {
  readonly accountId: string;
  readonly messageId: string;
  readonly endpointId: string | undefined;
  readonly url: string;
}

/** Adds a delivery that is due now, and returns its id. */
export async function addDelivery(
  session: SqlSession,
  { accountId, messageId, endpointId, url }: NewWebhookDelivery,
  at: string,
): Promise<string> {
  const id = randomUUID();
  await insertRow(session, 'webhook_deliveries', {
    id,
    accountId,
    messageId,
    endpointId: endpointId ?? null,
    lane: endpointId ?? laneOf(accountId, url),
    url,
    status: 'pending',
    // The delivery is due whatever the time is, because the clock of this server may be ahead.
    isDue: true,
    dueAt: at,
    createdAt: at,
  });
  return id;
}

/** Returns the lane of a `webhook_url`. Deliveries to one host share a lane, so a slow host holds up few others. */
function laneOf(accountId: string, url: string): string {
  const [byte = 0] = createHash('sha256').update(new URL(url).origin).digest();
  return `${accountId}/${byte % LANES_OF_ACCOUNT}`;
}
