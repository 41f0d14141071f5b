// Webhook endpoints of the account, which get the events of all renders, and the secret that signs all other webhooks.

import type { WebhookEvent } from './renders.ts';
import type { components } from './schema.generated.ts';
import type { HttpRequest, RequestOptions } from './transport.ts';

type Schemas = components['schemas'];

export type WebhookEventType = Exclude<WebhookEvent['type'], 'webhook.test'>;
export type WebhookEndpoint = Readonly<Schemas['WebhookEndpoint']>;
/** The secret is shown only once. `verifyWebhook` needs it. */
export type WebhookEndpointWithSecret = Readonly<Schemas['WebhookEndpointWithSecret']>;
/** One webhook on its way to one URL. */
export type WebhookDelivery = Readonly<Schemas['WebhookDelivery']>;

export interface NewWebhookEndpoint {
  readonly url: string;
  /** Default: all of them. */
  readonly events?: readonly WebhookEventType[] | undefined;
}

export interface RotationOptions extends RequestOptions {
  /** How long webhooks are signed with the old secret too. Default: a day. */
  readonly overlapSeconds?: number | undefined;
}

export type Send = (
  method: HttpRequest['method'],
  path: string,
  options: RequestOptions,
  json?: unknown,
  http?: Partial<HttpRequest>,
) => Promise<Response>;

const PATH = '/v1/webhook-endpoints';
/** A second attempt would create a second endpoint, rotate twice, or send a second test. */
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

  /** Webhooks are signed with both secrets for a while, so you have time to switch. */
  async rotateSecret(
    id: string,
    { overlapSeconds, ...options }: RotationOptions = {},
  ): Promise<WebhookEndpointWithSecret> {
    const response = await this.#send('POST', `${pathOf(id)}/rotate-secret`, options, overlap(overlapSeconds), ONCE);
    return (await response.json()) as WebhookEndpointWithSecret;
  }

  /** Sends a webhook of the type `webhook.test`. */
  async test(id: string, options: RequestOptions = {}): Promise<WebhookDelivery> {
    const response = await this.#send('POST', `${pathOf(id)}/test`, options, undefined, ONCE);
    return (await response.json()) as WebhookDelivery;
  }
}

/** The secret of the account, which signs webhooks to the `webhook_url` of a request. Needs a live key without allowed origins. */
export class WebhookSecret {
  readonly #send: Send;

  constructor(send: Send) {
    this.#send = send;
  }

  async get(options: RequestOptions = {}): Promise<string> {
    const response = await this.#send('GET', '/v1/webhook-secret', options);
    return ((await response.json()) as Schemas['WebhookSecret']).secret;
  }

  /** Returns the new one. Webhooks are signed with both for a while, so you have time to switch. */
  async rotate({ overlapSeconds, ...options }: RotationOptions = {}): Promise<string> {
    const response = await this.#send('POST', '/v1/webhook-secret/rotate', options, overlap(overlapSeconds), ONCE);
    return ((await response.json()) as Schemas['WebhookSecret']).secret;
  }
}

function overlap(seconds: number | undefined): Partial<Schemas['SecretRotation']> {
  return seconds === undefined ? {} : { overlap_seconds: seconds };
}

function pathOf(id: string): string {
  return `${PATH}/${encodeURIComponent(id)}`;
}
