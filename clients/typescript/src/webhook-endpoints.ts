// Webhook endpoints of the account: URLs that get every event, whatever `webhook_url` a request has.

import type { WebhookEvent } from './renders.ts';
import type { HttpRequest, RequestOptions } from './transport.ts';

export type WebhookEventType = Exclude<WebhookEvent['type'], 'webhook.test'>;

export interface WebhookEndpoint {
  readonly id: string;
  readonly url: string;
  /** Empty: all of them. */
  readonly events: readonly WebhookEventType[];
  readonly status: 'enabled' | 'disabled';
  /** `gone`: it responded with 410. `failing`: nothing arrived for five days. `user`: it was disabled on purpose. */
  readonly disabled_reason: 'user' | 'gone' | 'failing' | null;
  readonly disabled_at: string | null;
  readonly failing_since: string | null;
  readonly created_at: string;
}

/** The secret is shown only once. `verifyWebhook` needs it. */
export type WebhookEndpointWithSecret = WebhookEndpoint & { readonly secret: string };

/** One webhook on its way to one URL. */
export interface WebhookDelivery {
  readonly id: string;
  readonly endpoint_id: string | null;
  readonly url: string;
  /** The header `webhook-id` of every attempt. */
  readonly webhook_id: string;
  readonly type: string;
  readonly status: 'pending' | 'succeeded' | 'failed';
  readonly attempt_count: number;
  readonly next_attempt_at: string | null;
  readonly last_status: number | null;
  readonly last_error: string | null;
  readonly created_at: string;
  readonly finished_at: string | null;
}

export interface NewWebhookEndpoint {
  readonly url: string;
  /** Default: all of them. */
  readonly events?: readonly WebhookEventType[] | undefined;
}

type Send = (
  method: HttpRequest['method'],
  path: string,
  options: RequestOptions,
  json?: unknown,
  http?: Partial<HttpRequest>,
) => Promise<Response>;

const PATH = '/v1/webhook-endpoints';
/** A second attempt would create a second endpoint, or send a second test. */
const ONCE = { isRepeatable: false } as const;

/** Needs a live key without allowed origins. */
export class WebhookEndpoints {
  readonly #send: Send;

  constructor(send: Send) {
    this.#send = send;
  }

  /** The response is the only one with the secret of the endpoint, so store it. */
  async create(endpoint: NewWebhookEndpoint, options: RequestOptions = {}): Promise<WebhookEndpointWithSecret> {
    const response = await this.#send('POST', PATH, options, endpoint, ONCE);
    return (await response.json()) as WebhookEndpointWithSecret;
  }

  /** Oldest first. */
  async list(options: RequestOptions = {}): Promise<readonly WebhookEndpoint[]> {
    const response = await this.#send('GET', PATH, options);
    return ((await response.json()) as { endpoints: WebhookEndpoint[] }).endpoints;
  }

  /** Webhooks that are still to be sent to it are dropped. */
  async delete(id: string, options: RequestOptions = {}): Promise<void> {
    const response = await this.#send('DELETE', pathOf(id), options);
    await response.body?.cancel();
  }

  /** Webhooks are signed with the old secret too for `overlapSeconds`, a day unless you say otherwise. */
  async rotateSecret(
    id: string,
    { overlapSeconds, ...options }: RequestOptions & { overlapSeconds?: number } = {},
  ): Promise<WebhookEndpointWithSecret> {
    const body = overlapSeconds === undefined ? {} : { overlap_seconds: overlapSeconds };
    const response = await this.#send('POST', `${pathOf(id)}/rotate-secret`, options, body, ONCE);
    return (await response.json()) as WebhookEndpointWithSecret;
  }

  /** Sends a webhook of the type `webhook.test`. */
  async test(id: string, options: RequestOptions = {}): Promise<WebhookDelivery> {
    const response = await this.#send('POST', `${pathOf(id)}/test`, options, undefined, ONCE);
    return (await response.json()) as WebhookDelivery;
  }
}

function pathOf(id: string): string {
  return `${PATH}/${encodeURIComponent(id)}`;
}
