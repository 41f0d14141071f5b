// Renders for visitors without a key, on the same workers as everybody else's but only a few at once: whoever pays never
// waits behind a crowd that does not.

import type { AssetLimits, AssetProbe } from '../render/compose.ts';
import type { RenderFacts } from '../render/render.ts';
import type { Renderer, RenderJob, StoredAsset } from './renderer.ts';
import { Slots } from './slots.ts';

export interface CourtesyLimits {
  readonly atOnce: number;
  readonly maxWaiting: number;
}

export class CourtesyRenderer implements Pick<Renderer, 'probe' | 'render'> {
  readonly #renderer: Renderer;
  readonly #slots: Slots<number>;

  constructor(renderer: Renderer, { atOnce, maxWaiting }: CourtesyLimits) {
    this.#renderer = renderer;
    this.#slots = new Slots(maxWaiting);
    for (let slot = 0; slot < atOnce; slot += 1) this.#slots.put(slot);
  }

  async probe(asset: StoredAsset, limits: AssetLimits, signal: AbortSignal): Promise<AssetProbe> {
    return await this.#inTurn(signal, () => this.#renderer.probe(asset, limits, signal));
  }

  async render(job: RenderJob, signal: AbortSignal): Promise<RenderFacts> {
    return await this.#inTurn(signal, () => this.#renderer.render(job, signal));
  }

  async #inTurn<Result>(signal: AbortSignal, work: () => Promise<Result>): Promise<Result> {
    const slot = await this.#slots.take(signal);
    try {
      return await work();
    } finally {
      this.#slots.put(slot);
    }
  }
}
