// Videos that visitors render without a key: one per address and day, and a number for all visitors together. All
// servers share both limits.

import type { Rate } from '../account/gcra.ts';
import type { Limits } from '../store/limits.ts';
import { assertRate } from './assert-rate.ts';
import { networkOf } from './network.ts';

const DAY_MS = 24 * 60 * 60_000;

export class FreeClips {
  readonly #limits: Pick<Limits, 'take' | 'giveBack'>;
  readonly #perDay: number;

  /** `perDay` is for all visitors together. With 0, videos need a key. */
  constructor(limits: Pick<Limits, 'take' | 'giveBack'>, perDay: number) {
    this.#limits = limits;
    this.#perDay = perDay;
  }

  get isOffered(): boolean {
    return this.#perDay > 0;
  }

  /**
   * Call this right before the render, so that a refused video doesn't count. The address comes first, so that one
   * visitor who keeps trying can't use up the clips of all the others.
   */
  async take(address: string): Promise<void> {
    const own = `clip ${networkOf(address)}`;
    await this.#count(own, 1, 'Without an API key, one video per day is free.');
    try {
      await this.#count('clips', this.#perDay, 'The free videos of today are used up.');
    } catch (error) {
      // The visitor got no video, so their free clip remains available for when the shared limit allows it.
      await this.#limits.giveBack(own, rateOf(1));
      throw error;
    }
  }

  async #count(name: string, perDay: number, reason: string): Promise<void> {
    await assertRate(this.#limits, name, rateOf(perDay), `${reason} Get an API key for more.`);
  }
}

function rateOf(perDay: number): Rate {
  return { burst: perDay, windowMs: DAY_MS };
}
