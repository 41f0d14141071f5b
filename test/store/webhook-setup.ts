// Steps of webhooks, for tests of the store.

import { randomUUID } from 'node:crypto';
import { must } from '../../src/shared/must.ts';
import type { RenderEvent } from '../../src/service/store/renders/render.ts';
import type { Store } from '../../src/service/store/store.ts';
import type {
  ClaimedDelivery,
  WebhookAttempt,
  WebhookEventType,
  WebhookMessage,
} from '../../src/service/store/webhooks/webhook.ts';
import { renderSetup } from './render-setup.ts';
import type { World } from './world.ts';

export const ACTOR = 'cli:test';

/** `world` is the current one; each test has its own. */
export function webhookSetup(world: () => World) {
  const { accepted } = renderSetup(world);
  const message = (type = 'webhook.test'): WebhookMessage => ({ id: `msg_${randomUUID()}`, type, body: '{"a":1}' });
  const attempt = (changes: Partial<WebhookAttempt> = {}): WebhookAttempt => ({
    at: world().clock().toISOString(),
    durationMs: 12,
    requestHeaders: { 'webhook-id': 'x' },
    status: 500,
    contentType: 'text/plain',
    response: 'no',
    error: 'The receiver responded with 500.',
    ...changes,
  });
  const OK = { status: 200, error: undefined, response: 'ok' };

  async function endpoint(accountId: string, events: readonly WebhookEventType[] = []): Promise<string> {
    const id = randomUUID();
    const created = { id, accountId, url: `https://${id}.example/hook`, events };
    must(await world().store.webhookEndpoints.create(created, 20, ACTOR), 'the secret');
    return id;
  }

  /** Due now. */
  async function pending(accountId: string, endpointId: string): Promise<string> {
    return must(await world().store.webhookDeliveries.send(accountId, endpointId, message()), 'a delivery').id;
  }

  async function claimOne(store: Store = world().store): Promise<ClaimedDelivery> {
    return must((await store.webhookDeliveries.claim(1))[0], 'a delivery that is due');
  }

  async function canceledRender(accountId: string, batchId?: string): Promise<RenderEvent> {
    const { id } = await accepted(accountId, { batchId });
    await world().store.renders.cancel({ accountId }, id);
    return await eventOf(id);
  }

  async function eventOf(id: string): Promise<RenderEvent> {
    const events = await world().store.renders.events.pending(1_000);
    return must(
      events.find(({ renderId }) => renderId === id),
      'the event of the render',
    );
  }

  return { message, attempt, OK, endpoint, pending, claimOne, canceledRender, eventOf };
}
