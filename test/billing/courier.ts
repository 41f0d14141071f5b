// Brings the events of the fake to us, as badly as the real one may: twice, in any order, side by side, late or never. What
// was not taken is kept for the next time.

import { createHmac } from 'node:crypto';
import type { FakeEvent } from './fake-account.ts';
import type { FakeStripe } from './fake-stripe.ts';

export const WEBHOOK_SECRET = 'whsec_5t0rybar';

/** Returns the status of the answer. */
export type Send = (body: Buffer, signature: string) => Promise<number>;

export interface Manner {
  /** Puts the events in another order. */
  readonly order?: (events: FakeEvent[]) => FakeEvent[];
  readonly copies?: number;
  readonly atOnce?: boolean;
  /** True for an event that never arrives. */
  readonly drop?: (event: FakeEvent) => boolean;
  /** True for an event that is kept for later. */
  readonly delay?: (event: FakeEvent) => boolean;
}

export class Courier {
  readonly #fake: FakeStripe;
  readonly #send: Send;
  /** Events that were taken. */
  readonly delivered: FakeEvent[] = [];

  constructor(fake: FakeStripe, send: Send) {
    this.#fake = fake;
    this.#send = send;
  }

  /** The statuses of the answers. */
  async deliver({ order, copies = 1, atOnce = false, drop, delay }: Manner = {}): Promise<number[]> {
    const { events } = this.#fake.account;
    const waiting = events.splice(0).filter((event) => !drop?.(event));
    events.push(...waiting.filter((event) => delay?.(event)));
    const going = waiting.filter((event) => !delay?.(event));
    const ordered = order ? order(going) : going;
    const all = ordered.flatMap((event) => Array.from({ length: copies }, () => event));
    if (atOnce) return await Promise.all(all.map(async (event) => await this.#bring(event)));
    const statuses: number[] = [];
    for (const event of all) statuses.push(await this.#bring(event));
    return statuses;
  }

  /** Sends one event again, as it was, or signed at another time or with another secret. */
  async resend(event: FakeEvent, signing: { ageSeconds?: number; secret?: string } = {}): Promise<number> {
    const body = bodyOf(event);
    return await this.#send(body, sign(body, signing));
  }

  async #bring(event: FakeEvent): Promise<number> {
    const status = await this.resend(event);
    if (status === 200) this.delivered.push(event);
    else this.#fake.account.events.push(event);
    return status;
  }
}

export function bodyOf({ id, type, object }: FakeEvent): Buffer {
  return Buffer.from(JSON.stringify({ id, object: 'event', type, created: 1_700_000_000, data: { object } }, null, 2));
}

/** The scheme as Stripe documents it, not as its library does it. */
export function sign(body: Buffer, { ageSeconds = 0, secret = WEBHOOK_SECRET } = {}): string {
  const at = Math.floor(Date.now() / 1_000) - ageSeconds;
  const digest = createHmac('sha256', secret).update(`${at}.`).update(body).digest('hex');
  return `t=${at},v1=${digest},v0=${'0'.repeat(64)}`;
}
