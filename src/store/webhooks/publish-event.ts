// From an event of the outbox to deliveries, in one transaction with the end of the event.

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

/** Undefined when another server has handled the event. */
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
  // Always in the same order, so that two servers don't wait for each other.
  for (const { id } of wanted) locked.push(...(await lockEnabled(session, accountId, id)));
  return locked;
}

/**
 * Until the end of the transaction, the endpoint can't be disabled or deleted, which would end its pending deliveries but
 * miss the one that is being added. Empty when it isn't enabled any more.
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

/** Several renders may be the last one at the same time, but the event has the id of the batch, so there is one of it. */
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

/** Enough that receivers rarely share one, and few enough to look at each of them for every claim. */
const LANES_OF_ACCOUNT = 16;

interface NewWebhookDelivery {
  readonly accountId: string;
  readonly messageId: string;
  readonly endpointId: string | undefined;
  readonly url: string;
}

/** Due now. Returns its id. */
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
    // Whatever the time is: the clock of this server may be ahead.
    isDue: true,
    dueAt: at,
    createdAt: at,
  });
  return id;
}

/** For a `webhook_url`: deliveries to one server are in the same lane, and a slow one holds up few others. */
function laneOf(accountId: string, url: string): string {
  const [byte = 0] = createHash('sha256').update(new URL(url).origin).digest();
  return `${accountId}/${byte % LANES_OF_ACCOUNT}`;
}
