// Renders on this machine, in worker processes: a pool for images and one for videos, so that neither waits for the other.
// A render with an asset waits once, before the first look at it: with a look beforehand, a crowd would keep the workers
// looking at assets whose renders are refused afterwards.

import { type AssetKind, KIND_OF_FORMAT } from '../media/sniff.ts';
import { AppError } from '../errors.ts';
import type { ImageProbe } from '../media/image.ts';
import { type AssetLimits, type AssetProbe, completeDraft, type ImageDraft } from '../render/compose.ts';
import type { ImageRecipe } from '../render/recipe.ts';
import type { RenderFacts } from '../render/render.ts';
import { CostModel } from './cost-model.ts';
import type { WorkerPool } from './worker-pool.ts';
import type { ImageJob, Renderer, RendererStatus, RenderJob, Share, StoredAsset } from './renderer.ts';

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

  expect(account: string, kind: AssetKind): void {
    this.#pools[kind].expect(account);
  }

  async probe(asset: StoredAsset, limits: AssetLimits, signal: AbortSignal, share = ANYBODY): Promise<AssetProbe> {
    const kind = KIND_OF_FORMAT[asset.format];
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

  async renderImage(
    job: ImageJob,
    signal: AbortSignal,
    share = ANYBODY,
    onProbed: () => void = () => undefined,
  ): Promise<RenderFacts> {
    const pool = this.#pools.image;
    const usualMs = this.#costs.usualMs('image');
    let recipe: ImageRecipe | undefined;
    const terms = {
      limitMs: PROBE_LIMIT_MS.image,
      onProbed: (probe: ImageProbe): number | undefined => {
        const isFirst = recipe === undefined;
        recipe = completed(job.draft, probe);
        if (recipe === undefined) return undefined;
        if (isFirst) pool.adjustCost(share.account, this.#costs.estimateMs(recipe) - usualMs);
        onProbed();
        return recipe.attemptMs;
      },
    };
    const turn = { ...share, cost: PROBE_COST_MS.image + usualMs };
    const { result, workedMs } = await pool.run<'image'>({ type: 'image', job }, terms, signal, turn);
    if (recipe) this.#costs.learn(recipe, workedMs);
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

/** A worker that is itself completes its draft first, and says so when that cannot be. */
function completed(draft: ImageDraft, probe: ImageProbe): ImageRecipe | undefined {
  try {
    return completeDraft(draft, probe);
  } catch (error) {
    if (error instanceof AppError) return undefined;
    throw error;
  }
}
