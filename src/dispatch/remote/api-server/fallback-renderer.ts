// Workers elsewhere first, those of this machine when nobody elsewhere can: no broker, no worker.

import type { Asset } from '../../../media/asset.ts';
import type { AssetKind } from '../../../media/sniff.ts';
import type { AssetLimits, AssetProbe } from '../../../render/compose.ts';
import type { RenderFacts } from '../../../render/render.ts';
import type { Renderer, RendererStatus, RenderJob, Requester } from '../../renderer.ts';
import { QueueUnavailable } from '../shared/queue-unavailable.ts';

export interface PreferredRenderer extends Renderer {
  /** False while it is known that nobody would take it up. */
  isAvailable(kind: AssetKind): boolean;
}

export interface Fallback {
  readonly renderer: Renderer;
  /** Whether there are workers of this kind here. */
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
    this.#likely(kind ?? 'image').assertRoom(account, kind);
  }

  async probe(asset: Asset, limits: AssetLimits, signal: AbortSignal, requester?: Requester): Promise<AssetProbe> {
    return await this.#choose(asset.kind, signal, (renderer) => renderer.probe(asset, limits, signal, requester));
  }

  async render(job: RenderJob, signal: AbortSignal, requester?: Requester): Promise<RenderFacts> {
    const kind = job.recipe.kind === 'video' ? 'video' : 'image';
    return await this.#choose(kind, signal, (renderer) => renderer.render(job, signal, requester));
  }

  /** Slots of both; how many of them are elsewhere is told by `remote`. */
  status(): RendererStatus {
    const [there, here] = [this.#preferred.status(), this.#fallback.renderer.status()];
    const add = (kind: 'images' | 'videos') => ({
      workers: there[kind].workers + here[kind].workers,
      ready: there[kind].ready + here[kind].ready,
      busy: there[kind].busy + here[kind].busy,
      waiting: there[kind].waiting + here[kind].waiting,
      backlogMs: there[kind].backlogMs + here[kind].backlogMs,
      restarts: there[kind].restarts + here[kind].restarts,
    });
    return { ...there, images: add('images'), videos: add('videos'), codecs: here.codecs ?? there.codecs };
  }

  async close(): Promise<void> {
    await Promise.all([this.#preferred.close(), this.#fallback.renderer.close()]);
  }

  #likely(kind: AssetKind): Renderer {
    const isHere = this.#fallback.serves[kind] && !this.#preferred.isAvailable(kind);
    return isHere ? this.#fallback.renderer : this.#preferred;
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
