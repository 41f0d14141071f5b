// Renders for visitors without an API key. They share the workers with API callers but use at most half of each kind, so a
// busy playground leaves the other half to callers with a key.

import { AppError } from '../errors.ts';
import type { Asset } from '../media/asset.ts';
import type { AssetKind } from '../media/sniff.ts';
import { Semaphore, SemaphoreFull } from '../primitives/semaphore.ts';
import type { AssetLimits, AssetProbe } from '../render/compose.ts';
import type { RenderFacts } from '../render/render.ts';
import type { Renderer, RenderJob, Requester } from './renderer.ts';

const RETRY_AFTER_SECONDS = 2;

export class GuestRenderer implements Pick<Renderer, 'probe' | 'render'> {
  readonly #renderer: Renderer;
  readonly #slots: Readonly<Record<AssetKind, Semaphore>>;

  /** `maxWaiting`: guests that may wait for one of their slots, for images and for videos. */
  constructor(renderer: Renderer, maxWaiting: number) {
    this.#renderer = renderer;
    // Workers on other machines come and go, so their number is read for every render.
    const half = (kind: 'images' | 'videos') => (): number =>
      Math.max(1, Math.floor(renderer.status()[kind].ready / 2));
    this.#slots = {
      image: new Semaphore({ permits: half('images'), maxWaiting }),
      video: new Semaphore({ permits: half('videos'), maxWaiting }),
    };
  }

  async probe(asset: Asset, limits: AssetLimits, signal: AbortSignal, requester?: Requester): Promise<AssetProbe> {
    return await this.#inSlot(asset.kind, signal, () => this.#renderer.probe(asset, limits, signal, requester));
  }

  async render(job: RenderJob, signal: AbortSignal, requester?: Requester): Promise<RenderFacts> {
    const kind = job.asset?.kind ?? 'image';
    return await this.#inSlot(kind, signal, () => this.#renderer.render(job, signal, requester));
  }

  async #inSlot<Result>(kind: AssetKind, signal: AbortSignal, work: () => Promise<Result>): Promise<Result> {
    try {
      return await this.#slots[kind].run(work, signal);
    } catch (error) {
      if (!(error instanceof SemaphoreFull)) throw error;
      throw new AppError('overloaded', 'Too many visitors are rendering. Try again shortly.', {
        retryAfterSeconds: RETRY_AFTER_SECONDS,
        cause: error,
      });
    }
  }
}
