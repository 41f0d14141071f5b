// Renders for visitors without a key, on the same workers as everybody else's but only a few at once: whoever pays never
// waits behind a crowd that does not.

import type { Asset } from '../media/asset.ts';
import type { AssetLimits, AssetProbe } from '../render/compose.ts';
import type { RenderFacts } from '../render/render.ts';
import { FairQueue, type QueueEntry } from './fair-queue.ts';
import type { Renderer, RenderJob } from './renderer.ts';

export interface GuestLimits {
  readonly atOnce: number;
  readonly maxWaiting: number;
}

/** Nobody knows one visitor from another, so they wait in one line. */
const VISITOR: QueueEntry = { account: 'visitors', cost: 1, budgetMs: Number.POSITIVE_INFINITY };

export class GuestRenderer implements Pick<Renderer, 'probe' | 'render'> {
  readonly #renderer: Renderer;
  readonly #queue: FairQueue<number>;

  constructor(renderer: Renderer, { atOnce, maxWaiting }: GuestLimits) {
    this.#renderer = renderer;
    this.#queue = new FairQueue(atOnce, maxWaiting);
    for (let slot = 0; slot < atOnce; slot += 1) this.#queue.put(slot);
  }

  async render(job: RenderJob, signal: AbortSignal): Promise<RenderFacts> {
    return await this.#inTurn(signal, () => this.#renderer.render(job, signal));
  }

  async probe(asset: Asset, limits: AssetLimits, signal: AbortSignal): Promise<AssetProbe> {
    return await this.#inTurn(signal, () => this.#renderer.probe(asset, limits, signal));
  }

  async #inTurn<Result>(signal: AbortSignal, work: () => Promise<Result>): Promise<Result> {
    const slot = await this.#queue.take(signal, VISITOR);
    try {
      return await work();
    } finally {
      this.#queue.put(slot);
    }
  }
}
