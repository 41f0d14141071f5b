// Renders on other machines, and on this one while the broker or the workers are unavailable.

import type { AppError } from '../../../../shared/errors.ts';
import { type Asset, workerKindFor } from '../../../../engine/media/asset.ts';
import type { AssetKind } from '../../../../engine/media/sniff.ts';
import { type AssetLimits, type AssetProbe, type Recipe, workerKindOf } from '../../../../engine/render/compose.ts';
import type { RenderFacts } from '../../../../engine/render/render.ts';
import {
  assertSomeRoom,
  type Lease,
  type LeaseRequest,
  type Renderer,
  type RendererStatus,
  type RenderJob,
} from '../../renderer.ts';
import { QueueUnavailable } from '../shared/queue-unavailable.ts';

export interface PreferredRenderer extends Renderer {
  /** Returns false while it is known that no worker would take a render of this kind. */
  isAvailable(kind: AssetKind): boolean;
}

export interface Fallback {
  readonly renderer: Renderer;
  /** True for each kind of which it has workers. */
  readonly serves: Readonly<Record<AssetKind, boolean>>;
}

export class FallbackRenderer implements Renderer {
  readonly #preferred: PreferredRenderer;
  readonly #fallback: Fallback;

  constructor(preferred: PreferredRenderer, fallback: Fallback) {
    this.#preferred = preferred;
    this.#fallback = fallback;
  }

  open(request: LeaseRequest): Lease {
    assertSomeRoom(this, request.account);
    return new FallbackLease(this.#preferred, this.#fallback, request);
  }

  refusal(account: string, kind: AssetKind): AppError | undefined {
    const isLocal = this.#fallback.serves[kind] && !this.#preferred.isAvailable(kind);
    return (isLocal ? this.#fallback.renderer : this.#preferred).refusal(account, kind);
  }

  /** Returns the slots of both renderers. `remote` has the number of those on other machines. */
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
}

/** A lease on other machines until they turn out to be unavailable, then one on this machine. */
class FallbackLease implements Lease {
  readonly #preferred: PreferredRenderer;
  readonly #fallback: Fallback;
  readonly #request: LeaseRequest;
  #lease: Lease | undefined;
  #isLocal = false;

  constructor(preferred: PreferredRenderer, fallback: Fallback, request: LeaseRequest) {
    this.#preferred = preferred;
    this.#fallback = fallback;
    this.#request = request;
  }

  choose(kind: AssetKind): void {
    this.#run(kind, (lease) => lease.choose(kind));
  }

  enter(kind: AssetKind): void {
    this.#run(kind, (lease) => lease.enter(kind));
  }

  async probe(asset: Asset, limits: AssetLimits): Promise<AssetProbe> {
    return await this.#runStep(workerKindFor(asset), async (lease) => await lease.probe(asset, limits));
  }

  async render(job: RenderJob, onProgress?: (fraction: number) => void): Promise<RenderFacts> {
    return await this.#runStep(workerKindOf(job.recipe), async (lease) => await lease.render(job, onProgress));
  }

  assertFeasible(recipe: Recipe): void {
    this.#lease?.assertFeasible(recipe);
  }

  leave(): void {
    this.#lease?.leave();
  }

  close(): void {
    this.#lease?.close();
  }

  #run(kind: AssetKind, use: (lease: Lease) => void): void {
    try {
      use(this.#leaseFor(kind));
    } catch (error) {
      if (!this.#mayFallBack(kind, error)) throw error;
      use(this.#openLocal());
    }
  }

  async #runStep<Result>(kind: AssetKind, step: (lease: Lease) => Promise<Result>): Promise<Result> {
    try {
      return await step(this.#leaseFor(kind));
    } catch (error) {
      this.#request.signal.throwIfAborted();
      if (!this.#mayFallBack(kind, error)) throw error;
      return await step(this.#openLocal());
    }
  }

  #mayFallBack(kind: AssetKind, error: unknown): boolean {
    return error instanceof QueueUnavailable && this.#fallback.serves[kind] && !this.#isLocal;
  }

  #leaseFor(kind: AssetKind): Lease {
    if (!this.#isLocal && this.#fallback.serves[kind] && !this.#preferred.isAvailable(kind)) return this.#openLocal();
    this.#lease ??= this.#preferred.open(this.#request);
    return this.#lease;
  }

  #openLocal(): Lease {
    this.#lease?.close();
    this.#isLocal = true;
    this.#lease = this.#fallback.renderer.open(this.#request);
    return this.#lease;
  }
}
