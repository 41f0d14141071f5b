// Changes to webhooks, for the API and the dashboard. Objects of another account are treated as if they didn't exist.

import { randomUUID } from 'node:crypto';
import { parseUrlField } from '../../engine/caption/asset-url.ts';
import { typeName } from '../../engine/caption/quote.ts';
import { AppError, type FieldFault, invalidFields } from '../../shared/errors.ts';
import { assertRate } from '../limits/assert-rate.ts';
import { must } from '../../shared/must.ts';
import type { Actor } from '../store/audit.ts';
import type { Limits } from '../store/limits.ts';
import type { Store } from '../store/store.ts';
import {
  type DeliveryDetails,
  type DeliveryFilter,
  type DeliveryPage,
  WEBHOOK_EVENTS,
  type WebhookDelivery,
  type WebhookEndpoint,
  type WebhookEndpointChange,
  type WebhookEventType,
  type WebhookSecret,
} from '../store/webhooks/webhook.ts';
import type { FetchPolicy } from '../fetch/fetch-policy.ts';
import { testMessage } from './webhook-message.ts';

export const MAX_ENDPOINTS = 20;
const MAX_FAULTS = 20;
/** The limit of test events and webhooks that are sent again, per account. */
const SENDS_PER_MINUTE = 30;
/** How many failed webhooks are sent again at once. */
export const MAX_SENT_TOGETHER = 500;

export interface WebhookChangesOptions {
  readonly store: Pick<Store, 'accounts' | 'webhookEndpoints' | 'webhookDeliveries'>;
  readonly policy: Pick<FetchPolicy, 'faultOf'>;
  readonly limits: Pick<Limits, 'take'>;
}

export interface CheckedEndpoint {
  readonly url: string;
  readonly events: readonly WebhookEventType[];
}

export class WebhookChanges {
  readonly #endpoints: Store['webhookEndpoints'];
  readonly #deliveries: Store['webhookDeliveries'];
  readonly #options: WebhookChangesOptions;

  constructor(options: WebhookChangesOptions) {
    this.#options = options;
    this.#endpoints = options.store.webhookEndpoints;
    this.#deliveries = options.store.webhookDeliveries;
  }

  /** Reports the faults of all fields together. `urlName` is what messages call the URL. */
  check(url: unknown, events: unknown, urlName = 'url'): CheckedEndpoint {
    const checked = this.checkChange({ url: url ?? null, events: events ?? [] }, urlName);
    return { url: must(checked.url, 'the URL'), events: must(checked.events, 'the events') };
  }

  /** Like `check`, without the fields that are undefined. */
  checkChange(
    { url, events }: { readonly url?: unknown; readonly events?: unknown },
    urlName = 'url',
  ): WebhookEndpointChange {
    const faults: FieldFault[] = [];
    const parsed = url === undefined ? undefined : this.#checkUrl(url, faults, urlName);
    const wanted = events === undefined ? undefined : checkEvents(events ?? [], faults);
    if (faults.length > 0) throw invalidFields(faults);
    return { url: parsed?.href, events: wanted };
  }

  async create(
    accountId: string,
    { url, events }: CheckedEndpoint,
    actor: Actor,
  ): Promise<{ readonly endpoint: WebhookEndpoint; readonly secret: string }> {
    const id = randomUUID();
    const secret = await this.#endpoints.create({ id, accountId, url, events }, MAX_ENDPOINTS, actor);
    if (secret === undefined) {
      const detail = `An account can have up to ${MAX_ENDPOINTS} webhook endpoints. Delete one first.`;
      const limit = { limit: MAX_ENDPOINTS, actual: MAX_ENDPOINTS + 1 };
      throw new AppError('too_many_webhooks', detail, { limit });
    }
    return { endpoint: await this.find(accountId, id), secret };
  }

  async update(
    accountId: string,
    endpointId: string,
    change: WebhookEndpointChange,
    actor: Actor,
  ): Promise<WebhookEndpoint> {
    if (!(await this.#endpoints.update(accountId, endpointId, change, actor))) throw noEndpoint();
    return await this.find(accountId, endpointId);
  }

  async list(accountId: string): Promise<WebhookEndpoint[]> {
    return await this.#endpoints.list(accountId);
  }

  async find(accountId: string, endpointId: string): Promise<WebhookEndpoint> {
    const endpoint = await this.#endpoints.find(accountId, endpointId);
    if (endpoint === undefined) throw noEndpoint();
    return endpoint;
  }

  async remove(accountId: string, endpointId: string, actor: Actor): Promise<void> {
    if (!(await this.#endpoints.remove(accountId, endpointId, actor))) throw noEndpoint();
  }

  async setEnabled(accountId: string, endpointId: string, isEnabled: boolean, actor: Actor): Promise<WebhookEndpoint> {
    if (!(await this.#endpoints.setEnabled(accountId, endpointId, isEnabled, actor))) throw noEndpoint();
    return await this.find(accountId, endpointId);
  }

  async secrets(accountId: string, endpointId: string): Promise<WebhookSecret[]> {
    return await this.#endpoints.secrets(accountId, endpointId);
  }

  /** Returns the new secret. */
  async rotate(accountId: string, endpointId: string, overlapMs: number, actor: Actor): Promise<string> {
    const secret = await this.#endpoints.rotate(accountId, endpointId, overlapMs, actor);
    if (secret === undefined) throw noEndpoint();
    return secret;
  }

  async accountSecrets(accountId: string): Promise<WebhookSecret[]> {
    return await this.#endpoints.accountSecrets(accountId);
  }

  async rotateAccountSecret(accountId: string, overlapMs: number, actor: Actor): Promise<string> {
    return await this.#endpoints.rotateAccountSecret(accountId, overlapMs, actor);
  }

  /** Sends a test event. */
  async sendTest(accountId: string, endpointId: string): Promise<WebhookDelivery> {
    const { isEnabled } = await this.find(accountId, endpointId);
    if (!isEnabled) throw disabled();
    await this.#assertMaySend(accountId);
    const delivery = await this.#deliveries.send(accountId, endpointId, testMessage(endpointId));
    if (delivery === undefined) throw disabled();
    return delivery;
  }

  async listDeliveries(accountId: string, page: DeliveryPage): Promise<WebhookDelivery[]> {
    if (page.after !== undefined && (await this.#deliveries.find(accountId, page.after)) === undefined) {
      const detail = 'cursor must be the next_cursor of a page before.';
      throw new AppError('invalid_fields', detail, { faults: [{ pointer: '#/cursor', code: 'out_of_range', detail }] });
    }
    return await this.#deliveries.list(accountId, page);
  }

  async findDelivery(accountId: string, deliveryId: string): Promise<DeliveryDetails> {
    const found = await this.#deliveries.details(accountId, deliveryId);
    if (found === undefined) throw noDelivery();
    return found;
  }

  async sendAgain(accountId: string, deliveryId: string): Promise<WebhookDelivery> {
    if ((await this.#deliveries.find(accountId, deliveryId)) === undefined) throw noDelivery();
    await this.#assertMaySend(accountId);
    if (!(await this.#deliveries.sendAgain(accountId, deliveryId))) throw disabled();
    const delivery = await this.#deliveries.find(accountId, deliveryId);
    if (delivery === undefined) throw noDelivery();
    return delivery;
  }

  /** Sends the newest failed deliveries again whose endpoints are enabled, up to a limit. Returns how many. */
  async sendFailedAgain(accountId: string, filter: Omit<DeliveryFilter, 'status'>): Promise<number> {
    await this.#assertActive(accountId);
    const detail = 'Failed webhooks can be sent again together once per minute. Try again later.';
    await assertRate(this.#options.limits, `${accountId} failed webhooks`, { burst: 1, windowMs: 60_000 }, detail);
    const page = { ...filter, status: 'failed', isSendable: true, limit: MAX_SENT_TOGETHER } as const;
    let sent = 0;
    for (const { id } of await this.#deliveries.list(accountId, page)) {
      // The endpoint may have been disabled since.
      if (await this.#deliveries.sendAgain(accountId, id)) sent += 1;
    }
    return sent;
  }

  /** Users choose the receivers, so these requests are limited like those of renders. */
  async #assertMaySend(accountId: string): Promise<void> {
    await this.#assertActive(accountId);
    const rate = { burst: SENDS_PER_MINUTE, windowMs: 60_000 };
    const detail = `An account can send ${SENDS_PER_MINUTE} webhooks per minute by hand. Try again later.`;
    await assertRate(this.#options.limits, `${accountId} webhooks`, rate, detail);
  }

  async #assertActive(accountId: string): Promise<void> {
    if ((await this.#options.store.accounts.find(accountId))?.state !== 'suspended') return;
    throw new AppError('key_suspended', 'The account is suspended, so it can send no webhooks.');
  }

  #checkUrl(value: unknown, faults: FieldFault[], name: string): URL | undefined {
    const pointer = '#/url';
    if (value === null) {
      faults.push({ pointer, code: 'required', detail: `${name} is required: where to send webhooks.` });
      return undefined;
    }
    if (typeof value !== 'string') {
      faults.push({ pointer, code: 'wrong_type', detail: `${name} must be a string; got ${typeName(value)}.` });
      return undefined;
    }
    const url = parseUrlField(name, value.trim());
    const fault = url instanceof URL ? this.#options.policy.faultOf(url, 'webhook') : url;
    if (fault) faults.push({ pointer, ...fault });
    return url instanceof URL ? url : undefined;
  }
}

/** An empty list means all events. */
function checkEvents(value: unknown, faults: FieldFault[]): readonly WebhookEventType[] {
  const known = `Known events are ${WEBHOOK_EVENTS.join(', ')}.`;
  if (!Array.isArray(value)) {
    faults.push({ pointer: '#/events', code: 'wrong_type', detail: `events must be an array. ${known}` });
    return [];
  }
  for (const [index, event] of (value as unknown[]).slice(0, MAX_FAULTS).entries()) {
    if (WEBHOOK_EVENTS.some((one) => one === event)) continue;
    faults.push({ pointer: `#/events/${index}`, code: 'invalid_choice', detail: `This event doesn't exist. ${known}` });
  }
  return WEBHOOK_EVENTS.filter((event) => value.includes(event));
}

function noEndpoint(): AppError {
  return new AppError('webhook_not_found', 'Webhook endpoint not found.');
}

function noDelivery(): AppError {
  return new AppError('webhook_not_found', 'Webhook delivery not found.');
}

function disabled(): AppError {
  return new AppError('webhook_disabled', 'The endpoint is disabled or has been deleted. Enable it first.');
}
