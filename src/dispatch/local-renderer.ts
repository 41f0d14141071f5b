// Renders on this machine, in worker processes: a pool for images and one for videos, so that neither waits for the other.
// A render with an asset waits once, before the first look at it: with a look beforehand, a crowd would keep the workers
// looking at assets whose renders are refused afterwards.

import type { Asset } from '../media/asset.ts';
import type { AssetKind } from '../media/sniff.ts';
import type { AssetLimits, AssetProbe } from '../render/compose.ts';
import type { RenderFacts } from '../render/render.ts';
import { CostModel } from './cost-model.ts';
import type { WorkerPool } from './worker-pool.ts';
import type { Renderer, RendererStatus, RenderJob, Share } from './renderer.ts';

/** A video's probe reads all its packets; an image's only the header. */
export const PROBE_LIMIT_MS = { image: 5_000, video: 20_000 } as const;
const PROBE_COST_MS = { image: 2, video: 100 } as const;

/** Whoever does not say waits with all the others who do not, as long as it takes. */
const ANYBODY: Share = { account: '', budgetMs: Number.POSITIVE_INFINITY };

export class LocalRenderer implements Renderer {
  readonly #pools: { readonly image: WorkerPool; readonly video: WorkerPool };
  readonly #costs = new CostModel();

  constructor(pools: { readonly image: WorkerPool; readonly video: WorkerPool }) {
    this.#pools = pools;
  }

  assertRoom(account: string, kind?: AssetKind): void {
    if (kind !== undefined) {
      this.#pools[kind].assertRoom(account);
      return;
    }
    try {
      this.#pools.image.assertRoom(account);
    } catch {
      // Only when there is no room for a video either.
      this.#pools.video.assertRoom(account);
    }
  }

  async probe(asset: Asset, limits: AssetLimits, signal: AbortSignal, share = ANYBODY): Promise<AssetProbe> {
    const { kind } = asset;
    const turn = { ...share, cost: PROBE_COST_MS[kind] + this.#costs.usualMs(kind) };
    const task = { type: 'probe', asset, limits } as const;
    return (await this.#pools[kind].run<'probe'>(task, { limitMs: PROBE_LIMIT_MS[kind] }, signal, turn)).result;
  }

  async render(job: RenderJob, signal: AbortSignal, share = ANYBODY): Promise<RenderFacts> {
    const { recipe } = job;
    const kind = recipe.kind === 'video' ? 'video' : 'image';
    const pool = this.#pools[kind];
    const cost = this.#costs.estimateMs(recipe);
    const hasWaited = job.asset !== undefined;
    if (hasWaited) pool.adjustCost(share.account, cost - this.#costs.usualMs(kind));
    const turn = { ...share, cost, urgent: hasWaited };
    const terms = { limitMs: recipe.attemptMs };
    const { result, workedMs } = await pool.run<'render'>({ type: 'render', job }, terms, signal, turn);
    this.#costs.learn(recipe, workedMs);
    return result;
  }

  status(): RendererStatus {
    const { image, video } = this.#pools;
    return { images: image.status(), videos: video.status(), codecs: video.codecs };
  }

  async close(): Promise<void> {
    await Promise.all([this.#pools.image.close(), this.#pools.video.close()]);
  }
}
