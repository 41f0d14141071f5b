// What was sent to webhook endpoints, and what is still to be sent.

import type { Send } from './collection.ts';
import { entriesOf, LARGEST_PAGE } from './pages.ts';
import type { WebhookEvent } from './renders.ts';
import type { components } from './schema.generated.ts';
import type { RequestOptions } from './transport.ts';

type Schemas = components['schemas'];

/** One webhook on its way to one URL. */
export type WebhookDelivery = Readonly<Schemas['WebhookDelivery']>;
/** A delivery with its body and its attempts. */
export type WebhookDeliveryDetails = Readonly<Schemas['WebhookDeliveryDetails']>;

/** Without a value, deliveries of all endpoints, types and statuses are listed. */
export interface WebhookDeliveryFilter {
  readonly endpointId?: string | undefined;
  readonly type?: WebhookEvent['type'] | undefined;
  readonly status?: WebhookDelivery['status'] | undefined;
}

const PATH = '/v1/webhook-deliveries';

/** Needs a live key without allowed origins. */
export class WebhookDeliveries {
  readonly #send: Send;

  constructor(send: Send) {
    this.#send = send;
  }

  /** Iterates over deliveries, newest first. Pages are read as they are needed. */
  async *list(options: WebhookDeliveryFilter & RequestOptions = {}): AsyncGenerator<WebhookDelivery, void, undefined> {
    yield* entriesOf(async (cursor) => {
      const query = new URLSearchParams({ limit: String(LARGEST_PAGE) });
      if (options.endpointId !== undefined) query.set('endpoint_id', options.endpointId);
      if (options.type !== undefined) query.set('type', options.type);
      if (options.status !== undefined) query.set('status', options.status);
      if (cursor !== undefined) query.set('cursor', cursor);
      const page = await this.#send<Schemas['WebhookDeliveryList']>('GET', `${PATH}?${query.toString()}`, options);
      return [page.deliveries, page.next_cursor];
    });
  }

  async get(id: string, options: RequestOptions = {}): Promise<WebhookDeliveryDetails> {
    return await this.#send('GET', `${PATH}/${encodeURIComponent(id)}`, options);
  }

  /** Sends the webhook once more. */
  async resend(id: string, options: RequestOptions = {}): Promise<WebhookDelivery> {
    const path = `${PATH}/${encodeURIComponent(id)}/resend`;
    return await this.#send('POST', path, options, undefined, { isRepeatable: false });
  }
}
