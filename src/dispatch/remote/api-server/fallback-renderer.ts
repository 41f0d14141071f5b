// Renders on other machines, and on this one while the broker or the workers are unavailable.

import { type Asset, workerKindFor } from '../../../media/asset.ts';
import type { AssetKind } from '../../../media/sniff.ts';
import { type AssetLimits, type AssetProbe, workerKindOf } from '../../../render/compose.ts';
import type { RenderFacts } from '../../../render/render.ts';
import type { Renderer, RendererStatus, RenderJob, Requester } from '../../renderer.ts';
import { QueueUnavailable } from '../shared/queue-unavailable.ts';

export interface PreferredRenderer extends Renderer {
  /** False while it is known that no worker would take a render of this kind. */
  isAvailable(kind: AssetKind): boolean;
}

export interface Fallback {
  readonly renderer: Renderer;
  /** Whether it has workers of this kind. */
  readonly serves: Readonly<Record<AssetKind, boolean>>;
}

export class FallbackRenderer implements Renderer {
  readonly #preferred: PreferredRenderer;
  readonly #fallback: Fallback;

  constructor(preferred: PreferredRenderer, fallback: Fallback) {
    this.#preferred = preferred;
    this.#fallback = fallback;
  }

  assertRoom(account: string, kind?: AssetKind): void {
    if (kind !== undefined) {
      this.#likely(kind).assertRoom(account, kind);
      return;
    }
    try {
      this.#likely('image').assertRoom(account, 'image');
    } catch {
      // The request may still be a video.
      this.#likely('video').assertRoom(account, 'video');
    }
  }

  expect(account: string, kind: AssetKind): () => void {
    return this.#likely(kind).expect(account, kind);
  }

  async probe(asset: Asset, limits: AssetLimits, signal: AbortSignal, requester?: Requester): Promise<AssetProbe> {
    return await this.#choose(workerKindFor(asset), signal, (renderer) =>
      renderer.probe(asset, limits, signal, requester),
    );
  }

  /** Only the one that probed has something to return. */
  refund(asset: Asset, requester: Requester): void {
    this.#preferred.refund(asset, requester);
    this.#fallback.renderer.refund(asset, requester);
  }

  async render(job: RenderJob, signal: AbortSignal, requester?: Requester): Promise<RenderFacts> {
    const kind = workerKindOf(job.recipe);
    return await this.#choose(kind, signal, (renderer) => renderer.render(job, signal, requester));
  }

  /** The slots of both renderers; `remote` says how many of them are on other machines. */
  status(): RendererStatus {
    const [remote, local] = [this.#preferred.status(), this.#fallback.renderer.status()];
    const sum = (kind: 'images' | 'videos') => ({
      workers: remote[kind].workers + local[kind].workers,
      ready: remote[kind].ready + local[kind].ready,
      busy: remote[kind].busy + local[kind].busy,
      waiting: remote[kind].waiting + local[kind].waiting,
      backlogMs: remote[kind].backlogMs + local[kind].backlogMs,
      restarts: remote[kind].restarts + local[kind].restarts,
    });
    return { ...remote, images: sum('images'), videos: sum('videos'), codecs: local.codecs ?? remote.codecs };
  }

  async close(): Promise<void> {
    await Promise.all([this.#preferred.close(), this.#fallback.renderer.close()]);
  }

  #likely(kind: AssetKind): Renderer {
    const isLocal = this.#fallback.serves[kind] && !this.#preferred.isAvailable(kind);
    return isLocal ? this.#fallback.renderer : this.#preferred;
  }

  async #choose<Result>(
    kind: AssetKind,
    signal: AbortSignal,
    work: (renderer: Renderer) => Promise<Result>,
  ): Promise<Result> {
    if (!this.#fallback.serves[kind]) return await work(this.#preferred);
    if (!this.#preferred.isAvailable(kind)) return await work(this.#fallback.renderer);
    try {
      return await work(this.#preferred);
    } catch (error) {
      signal.throwIfAborted();
      if (error instanceof QueueUnavailable) return await work(this.#fallback.renderer);
      throw error;
    }
  }
}
