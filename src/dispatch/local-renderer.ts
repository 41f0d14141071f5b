// Renders in worker processes on this machine. Images and videos have separate pools, so neither waits for the other.

import { type Asset, workerKindFor } from '../media/asset.ts';
import type { AssetKind } from '../media/sniff.ts';
import { type AssetLimits, type AssetProbe, workerKindOf } from '../render/compose.ts';
import type { RenderFacts } from '../render/render.ts';
import type { Renderer, RendererStatus, RenderJob, Requester } from './renderer.ts';
import type { WorkerPool } from './worker-pool.ts';

export class LocalRenderer implements Renderer {
  readonly #pools: Readonly<Record<AssetKind, WorkerPool>>;

  constructor(pools: Readonly<Record<AssetKind, WorkerPool>>) {
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
      // The asset may still turn out to be a video.
      this.#pools.video.assertRoom(account);
    }
  }

  expect(account: string, kind: AssetKind): () => void {
    return this.#pools[kind].expect(account);
  }

  async probe(asset: Asset, limits: AssetLimits, signal: AbortSignal, requester?: Requester): Promise<AssetProbe> {
    const kind = workerKindFor(asset);
    return await this.#pools[kind].run<'probe'>({ type: 'probe', asset, limits }, signal, requester);
  }

  refund(asset: Asset, requester: Requester): void {
    this.#pools[workerKindFor(asset)].refund(asset, requester);
  }

  async render(job: RenderJob, signal: AbortSignal, requester?: Requester): Promise<RenderFacts> {
    const pool = this.#pools[workerKindOf(job.recipe)];
    return await pool.run<'render'>({ type: 'render', job }, signal, requester);
  }

  status(): RendererStatus {
    const { image, video } = this.#pools;
    return { images: image.status(), videos: video.status(), codecs: video.codecs };
  }

  async close(): Promise<void> {
    await Promise.all([this.#pools.image.close(), this.#pools.video.close()]);
  }
}
