// Webhook endpoints of the account, which get the events of all renders, and the secret that signs all other webhooks.

import { Collection, type Send } from './collection.ts';
import type { WebhookDelivery } from './webhook-deliveries.ts';
import type { WebhookEvent } from './renders.ts';
import type { components } from './schema.generated.ts';
import type { RequestOptions } from './transport.ts';

type Schemas = components['schemas'];

export type WebhookEventType = Exclude<WebhookEvent['type'], 'webhook.test'>;
export type WebhookEndpoint = Readonly<Schemas['WebhookEndpoint']>;
/** The secret is returned only once. `verifyWebhook` needs it. */
export type WebhookEndpointWithSecret = Readonly<Schemas['WebhookEndpointWithSecret']>;

export interface NewWebhookEndpoint {
  readonly url: string;
  /** The event types. Default: all of them. */
  readonly events?: readonly WebhookEventType[] | undefined;
}

export interface WebhookEndpointChange {
  readonly url?: string | undefined;
  /** The event types. An empty list means all of them. */
  readonly events?: readonly WebhookEventType[] | undefined;
}

export interface RotationOptions extends RequestOptions {
  /** How long webhooks are also signed with the old secret. Default: a day. */
  readonly overlapSeconds?: number | undefined;
}

/** A second attempt would create a second endpoint, rotate twice, or send a second test. */
const ONCE = { isRepeatable: false } as const;

/** Manages webhook endpoints. Needs a live key without allowed origins. */
export class WebhookEndpoints extends Collection<WebhookEndpoint> {
  constructor(send: Send) {
    super(send, '/v1/webhook-endpoints', 'endpoints');
  }

  /** Creates an endpoint. Only this response has the secret of the endpoint, so store it. */
  async create(endpoint: NewWebhookEndpoint, options: RequestOptions = {}): Promise<WebhookEndpointWithSecret> {
    return await this.send('POST', this.path, options, endpoint, ONCE);
  }

  /** Changes the URL, the events, or both. What is left out stays as it is. Waiting webhooks go to the new URL. */
  async update(id: string, change: WebhookEndpointChange, options: RequestOptions = {}): Promise<WebhookEndpoint> {
    return await this.send('PATCH', this.pathOf(id), options, change);
  }

  /** Sends webhooks to a disabled endpoint again. */
  async enable(id: string, options: RequestOptions = {}): Promise<WebhookEndpoint> {
    return await this.send('POST', `${this.pathOf(id)}/enable`, options);
  }

  /** Sends nothing to an endpoint until it is enabled again. */
  async disable(id: string, options: RequestOptions = {}): Promise<WebhookEndpoint> {
    return await this.send('POST', `${this.pathOf(id)}/disable`, options);
  }

  /** Creates a new secret. Webhooks are signed with both secrets for a while, so you have time to switch. */
  async rotateSecret(
    id: string,
    { overlapSeconds, ...options }: RotationOptions = {},
  ): Promise<WebhookEndpointWithSecret> {
    return await this.send('POST', `${this.pathOf(id)}/rotate-secret`, options, overlap(overlapSeconds), ONCE);
  }

  /** Sends a webhook of the type `webhook.test`. */
  async test(id: string, options: RequestOptions = {}): Promise<WebhookDelivery> {
    return await this.send('POST', `${this.pathOf(id)}/test`, options, undefined, ONCE);
  }
}

/** The secret of the account, which signs webhooks to the `webhook_url` of a request. Needs a live key without allowed origins. */
export class WebhookSecret {
  readonly #send: Send;

  constructor(send: Send) {
    this.#send = send;
  }

  async get(options: RequestOptions = {}): Promise<string> {
    return (await this.#send<Schemas['WebhookSecret']>('GET', '/v1/webhook-secret', options)).secret;
  }

  /** Creates a new secret and returns it. Webhooks are signed with both for a while, so you have time to switch. */
  async rotate({ overlapSeconds, ...options }: RotationOptions = {}): Promise<string> {
    const path = '/v1/webhook-secret/rotate';
    return (await this.#send<Schemas['WebhookSecret']>('POST', path, options, overlap(overlapSeconds), ONCE)).secret;
  }
}

function overlap(seconds: number | undefined): Partial<Schemas['SecretRotation']> {
  return seconds === undefined ? {} : { overlap_seconds: seconds };
}
