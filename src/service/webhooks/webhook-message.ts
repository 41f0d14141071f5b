// The bodies of webhooks. Their data is what `GET` returns for the render or the batch.

import { randomUUID } from 'node:crypto';
import { TEST_EVENT } from '../api/webhook-schemas.ts';
import type { ResponseOf } from '../api/response-schemas.ts';
import type { RenderEvent } from '../store/renders/render.ts';
import type { Renders } from '../store/renders/renders.ts';
import type { WebhookMessage } from '../store/webhooks/webhook.ts';
import { batchToJson, MAX_BATCH, renderToJson } from '../renders/render-view.ts';
import { webhookUrlIn } from '../renders/stored-request.ts';

export interface EventMessage {
  readonly message: WebhookMessage;
  /** The `webhook_url` of the request. */
  readonly webhookUrl: string | undefined;
  readonly batchId: string | undefined;
}

/** Returns undefined when the render or the batch has been deleted. */
export async function describeEvent(
  renders: Pick<Renders, 'find' | 'list'>,
  event: RenderEvent,
  baseUrl: string,
): Promise<EventMessage | undefined> {
  const scope = { accountId: event.accountId };
  if (event.type === 'batch.completed') {
    const records = await renders.list(scope, { limit: MAX_BATCH, batchId: event.renderId });
    if (records.length === 0) return undefined;
    const message = messageOf(event, batchToJson(event.renderId, records, baseUrl));
    return { message, webhookUrl: undefined, batchId: undefined };
  }
  const record = await renders.find(scope, event.renderId);
  if (record === undefined) return undefined;
  const message = messageOf(event, renderToJson(record, baseUrl));
  return { message, webhookUrl: webhookUrlIn(record.request), batchId: record.batchId };
}

function messageOf({ id, type, createdAt }: RenderEvent, data: ResponseOf<'Render' | 'Batch'>): WebhookMessage {
  return { id: `msg_${id}`, type, body: bodyOf(type, createdAt, data) };
}

export function testMessage(endpointId: string, now = new Date()): WebhookMessage {
  const data = {
    endpoint_id: endpointId,
    text: 'This is a test event.',
  };
  return { id: `msg_${randomUUID()}`, type: TEST_EVENT, body: bodyOf(TEST_EVENT, now, data) };
}

function bodyOf(type: string, at: Date, data: object): string {
  return JSON.stringify({ type, timestamp: at.toISOString(), data });
}
