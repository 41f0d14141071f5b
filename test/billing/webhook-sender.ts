// Sends the events of the fake to the webhook, as unreliably as Stripe may: twice, in any order, in parallel, late or
// never. A refused event is kept for the next delivery.

import { createHmac } from 'node:crypto';
import type { FakeEvent } from './fake-account.ts';
import type { FakeStripe } from './fake-stripe.ts';

export const WEBHOOK_SECRET = 'whsec_5t0rybar';

/** Returns the status of the response. */
export type Send = (body: Buffer, signature: string) => Promise<number>;

export interface DeliveryOptions {
  /** Reorders the events. */
  readonly order?: (events: FakeEvent[]) => FakeEvent[];
  readonly copies?: number;
  readonly inParallel?: boolean;
  /** Returns true for an event that is lost. */
  readonly drop?: (event: FakeEvent) => boolean;
  /** Returns true for an event that is kept for the next delivery. */
  readonly delay?: (event: FakeEvent) => boolean;
}

export class WebhookSender {
  readonly #fake: FakeStripe;
  readonly #send: Send;
  /** Events that were accepted. */
  readonly delivered: FakeEvent[] = [];

  constructor(fake: FakeStripe, send: Send) {
    this.#fake = fake;
    this.#send = send;
  }

  /** Returns the statuses of the responses. */
  async deliver({ order, copies = 1, inParallel = false, drop, delay }: DeliveryOptions = {}): Promise<number[]> {
    const { events } = this.#fake.account;
    const waiting = events.splice(0).filter((event) => !drop?.(event));
    events.push(...waiting.filter((event) => delay?.(event)));
    const due = waiting.filter((event) => !delay?.(event));
    const ordered = order ? order(due) : due;
    const all = ordered.flatMap((event) => Array.from({ length: copies }, () => event));
    if (inParallel) return await Promise.all(all.map(async (event) => await this.#attempt(event)));
    const statuses: number[] = [];
    for (const event of all) statuses.push(await this.#attempt(event));
    return statuses;
  }

  /** Sends one event again, unchanged or signed at another time or with another secret. */
  async resend(event: FakeEvent, signing: { ageSeconds?: number; secret?: string } = {}): Promise<number> {
    const body = bodyOf(event);
    return await this.#send(body, sign(body, signing));
  }

  async #attempt(event: FakeEvent): Promise<number> {
    const status = await this.resend(event);
    if (status === 200) this.delivered.push(event);
    else this.#fake.account.events.push(event);
    return status;
  }
}

export function bodyOf({ id, type, object }: FakeEvent): Buffer {
  return Buffer.from(JSON.stringify({ id, object: 'event', type, created: 1_700_000_000, data: { object } }, null, 2));
}

/** Signs as Stripe's documentation describes, without its library. */
export function sign(body: Buffer, { ageSeconds = 0, secret = WEBHOOK_SECRET } = {}): string {
  const at = Math.floor(Date.now() / 1_000) - ageSeconds;
  const digest = createHmac('sha256', secret).update(`${at}.`).update(body).digest('hex');
  return `t=${at},v1=${digest},v0=${'0'.repeat(64)}`;
}
