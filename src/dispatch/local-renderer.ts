// Renders on this machine, in worker processes: a crew for images and one for videos, so that neither waits for the other.

import { type AssetKind, KIND_OF_FORMAT } from '../media/sniff.ts';
import type { AssetLimits, AssetProbe } from '../render/compose.ts';
import type { RenderFacts } from '../render/render.ts';
import { CostModel } from './cost-model.ts';
import type { Crew } from './crew.ts';
import type { Renderer, RendererStatus, RenderJob, Share, StoredAsset } from './renderer.ts';

/** A video's probe reads all its packets; an image's only the header. */
export const PROBE_LIMIT_MS = { image: 5_000, video: 20_000 } as const;
const PROBE_COST_MS = { image: 2, video: 100 } as const;

/** Whoever does not say waits with all the others who do not, as long as it takes. */
const ANYBODY: Share = { account: '', budgetMs: Number.POSITIVE_INFINITY };

export class LocalRenderer implements Renderer {
  readonly #crews: { readonly image: Crew; readonly video: Crew };
  readonly #costs = new CostModel();

  constructor(crews: { readonly image: Crew; readonly video: Crew }) {
    this.#crews = crews;
  }

  assertRoom(account: string, kind?: AssetKind): void {
    if (kind !== undefined) {
      this.#crews[kind].assertRoom(account);
      return;
    }
    try {
      this.#crews.image.assertRoom(account);
    } catch {
      // Only when there is no room for a video either.
      this.#crews.video.assertRoom(account);
    }
  }

  async probe(asset: StoredAsset, limits: AssetLimits, signal: AbortSignal, share = ANYBODY): Promise<AssetProbe> {
    const kind = KIND_OF_FORMAT[asset.format];
    // A look at an image's header is over before anybody notices; it need not stand in line.
    const turn = { ...share, cost: PROBE_COST_MS[kind], urgent: kind === 'image' };
    const task = { type: 'probe', asset, limits } as const;
    return (await this.#crews[kind].run<'probe'>(task, PROBE_LIMIT_MS[kind], signal, turn)).result;
  }

  async render(job: RenderJob, signal: AbortSignal, share = ANYBODY): Promise<RenderFacts> {
    const { recipe } = job;
    const crew = recipe.kind === 'video' ? this.#crews.video : this.#crews.image;
    const turn = { ...share, cost: this.#costs.estimateMs(recipe) };
    const { result, workedMs } = await crew.run<'render'>({ type: 'render', job }, recipe.attemptMs, signal, turn);
    this.#costs.learn(recipe, workedMs);
    return result;
  }

  status(): RendererStatus {
    const { image, video } = this.#crews;
    return { images: image.status(), videos: video.status(), codecs: video.codecs };
  }

  async close(): Promise<void> {
    await Promise.all([this.#crews.image.close(), this.#crews.video.close()]);
  }
}
