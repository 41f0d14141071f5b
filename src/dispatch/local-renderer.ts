// Renders on this machine, in worker processes.

import type { ImageProbe } from '../media/image.ts';
import type { RenderFacts } from '../render/render.ts';
import type { Crew } from './crew.ts';
import type { Renderer, RendererStatus, RenderJob, StoredAsset } from './renderer.ts';

const PROBE_LIMIT_MS = 5_000;

export class LocalRenderer implements Renderer {
  readonly #images: Crew;

  constructor(images: Crew) {
    this.#images = images;
  }

  async probe(asset: StoredAsset, signal: AbortSignal): Promise<ImageProbe> {
    return await this.#images.run<'probe'>({ type: 'probe', asset }, PROBE_LIMIT_MS, signal);
  }

  async render(job: RenderJob, signal: AbortSignal): Promise<RenderFacts> {
    return await this.#images.run<'render'>({ type: 'render', job }, job.recipe.attemptMs, signal);
  }

  status(): RendererStatus {
    return { images: this.#images.status() };
  }

  async close(): Promise<void> {
    await this.#images.close();
  }
}
