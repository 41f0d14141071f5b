// Rate limits by client address, for requests without an API key.

import type { Limits } from '../store/limits.ts';
import { assertRate } from './assert-rate.ts';
import { networkOf } from './network.ts';

const WINDOWS = {
  minute: { windowMs: 60_000, advice: 'Try again shortly.' },
  day: { windowMs: 24 * 3_600_000, advice: 'Get an API key for more.' },
} as const;

/** One bucket per network, refilled at an even rate. Servers that share the limits share the buckets. */
export class AddressLimit {
  readonly #limits: Pick<Limits, 'take'>;
  readonly #name: string;
  readonly #count: number;
  readonly #window: keyof typeof WINDOWS;

  /** `name` says what is counted, such as `renders`, and tells the buckets from those of other limits. */
  constructor(limits: Pick<Limits, 'take'>, name: string, count: number, window: keyof typeof WINDOWS) {
    this.#limits = limits;
    this.#name = name;
    this.#count = count;
    this.#window = window;
  }

  /** Throws when the network has used up its requests. */
  async take(address: string): Promise<void> {
    const { windowMs, advice } = WINDOWS[this.#window];
    const detail = `Without an API key, each address is limited to ${this.#count} ${this.#name} per ${this.#window}. ${advice}`;
    const rate = { burst: this.#count, windowMs };
    await assertRate(this.#limits, `${this.#name} ${networkOf(address)}`, rate, detail);
  }
}
