// Renders in worker processes on this machine. Images and videos have separate pools, so neither waits for the other.

import type { AppError } from '../../shared/errors.ts';
import { type Asset, workerKindFor } from '../../engine/media/asset.ts';
import type { AssetKind } from '../../engine/media/sniff.ts';
import { type AssetLimits, type AssetProbe, type Recipe, workerKindOf } from '../../engine/render/compose.ts';
import type { RenderFacts } from '../../engine/render/render.ts';
import type { Place } from './queue/place.ts';
import {
  assertSomeRoom,
  type Lease,
  type LeaseRequest,
  type Renderer,
  type RendererStatus,
  type RenderJob,
} from './renderer.ts';
import type { WorkerPool } from './worker-pool.ts';
import type { Worker } from './worker.ts';

type Pools = Readonly<Record<AssetKind, WorkerPool>>;

export class LocalRenderer implements Renderer {
  readonly #pools: Pools;

  constructor(pools: Pools) {
    this.#pools = pools;
  }

  open(request: LeaseRequest): Lease {
    assertSomeRoom(this, request.account);
    return new LocalLease(this.#pools, request);
  }

  refusal(account: string, kind: AssetKind): AppError | undefined {
    return this.#pools[kind].refusal(account);
  }

  status(): RendererStatus {
    const { image, video } = this.#pools;
    return { images: image.status(), videos: video.status(), codecs: video.codecs };
  }

  async close(): Promise<void> {
    await Promise.all([this.#pools.image.close(), this.#pools.video.close()]);
  }
}

/** A lease whose steps all run on workers of one kind. A layout runs on the worker that has probed the file. */
class LocalLease implements Lease {
  readonly #pools: Pools;
  readonly #request: LeaseRequest;
  #held: { readonly pool: WorkerPool; readonly place: Place<Worker> } | undefined;

  constructor(pools: Pools, request: LeaseRequest) {
    this.#pools = pools;
    this.#request = request;
  }

  choose(kind: AssetKind): void {
    const refusal = this.#pools[kind].refusal(this.#request.account);
    if (refusal) throw refusal;
  }

  enter(kind: AssetKind): void {
    const { place } = this.#hold(kind);
    if (!place.isEntered) place.enter();
  }

  async probe(asset: Asset, limits: AssetLimits): Promise<AssetProbe> {
    const kind = workerKindFor(asset);
    this.enter(kind);
    const { pool, place } = this.#hold(kind);
    return await pool.run<'probe'>({ type: 'probe', asset, limits }, place, this.#request);
  }

  async render(job: RenderJob, onProgress?: (fraction: number) => void): Promise<RenderFacts> {
    this.assertFeasible(job.recipe);
    const { pool, place } = this.#hold(workerKindOf(job.recipe));
    place.charge(job.recipe);
    return await pool.run<'render'>({ type: 'render', job }, place, this.#request, onProgress);
  }

  assertFeasible(recipe: Recipe): void {
    this.#hold(workerKindOf(recipe)).place.assertFeasible(recipe);
  }

  leave(): void {
    this.#held?.place.leave();
  }

  close(): void {
    this.leave();
  }

  #hold(kind: AssetKind): { readonly pool: WorkerPool; readonly place: Place<Worker> } {
    const pool = this.#pools[kind];
    this.#held ??= { pool, place: pool.place(this.#request) };
    return this.#held;
  }
}
