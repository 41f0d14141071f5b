// Renders on this machine, in worker processes: a crew for images and one for videos, so that neither waits for the other.

import { KIND_OF_FORMAT } from '../media/sniff.ts';
import type { AssetLimits, AssetProbe } from '../render/compose.ts';
import type { RenderFacts } from '../render/render.ts';
import type { Crew } from './crew.ts';
import type { Renderer, RendererStatus, RenderJob, StoredAsset } from './renderer.ts';

/** A video's probe reads all its packets; an image's only the header. */
const PROBE_LIMIT_MS = { image: 5_000, video: 20_000 } as const;

export class LocalRenderer implements Renderer {
  readonly #crews: { readonly image: Crew; readonly video: Crew };

  constructor(crews: { readonly image: Crew; readonly video: Crew }) {
    this.#crews = crews;
  }

  async probe(asset: StoredAsset, limits: AssetLimits, signal: AbortSignal): Promise<AssetProbe> {
    const kind = KIND_OF_FORMAT[asset.format];
    return await this.#crews[kind].run<'probe'>({ type: 'probe', asset, limits }, PROBE_LIMIT_MS[kind], signal);
  }

  async render(job: RenderJob, signal: AbortSignal): Promise<RenderFacts> {
    const crew = job.recipe.kind === 'video' ? this.#crews.video : this.#crews.image;
    return await crew.run<'render'>({ type: 'render', job }, job.recipe.attemptMs, signal);
  }

  status(): RendererStatus {
    const { image, video } = this.#crews;
    return { images: image.status(), videos: video.status(), codecs: video.codecs };
  }

  async close(): Promise<void> {
    await Promise.all([this.#crews.image.close(), this.#crews.video.close()]);
  }
}
