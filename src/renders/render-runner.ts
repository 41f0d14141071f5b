// Runs accepted renders on this server, those of each lane beside those of the others.

import { RENDER_LANES, type RenderLane } from '../store/renders/render.ts';
import { LeasedRunner } from './leased-runner.ts';
import { StoredRenderJob, type StoredRenderJobDependencies } from './stored-render-job.ts';

/** Fetching takes a connection and little else. The store limits the number per account. */
const MAX_FETCHES = 64;

export class RenderRunner {
  readonly #dependencies: StoredRenderJobDependencies;
  readonly #lanes: readonly LeasedRunner<StoredRenderJob>[];
  readonly #listeners = new Map<string, Set<() => void>>();

  constructor(dependencies: StoredRenderJobDependencies) {
    this.#dependencies = dependencies;
    this.#lanes = RENDER_LANES.map((lane) => this.#createLane(lane));
  }

  start(): void {
    for (const lane of this.#lanes) lane.start();
  }

  /** Tells the runner that there may be a render to claim. */
  wake(): void {
    for (const lane of this.#lanes) lane.wake();
  }

  /** Stops work on a render that was canceled. */
  cancel(renderId: string): void {
    for (const lane of this.#lanes) lane.drop(renderId);
    this.#notify(renderId);
  }

  /** Resolves when the render ends on this server, at the latest after `maxMs`. */
  async ended(renderId: string, maxMs: number): Promise<void> {
    await new Promise<void>((resolve) => {
      const listeners = this.#listeners.get(renderId) ?? new Set();
      const done = (): void => {
        clearTimeout(timer);
        listeners.delete(done);
        if (listeners.size === 0) this.#listeners.delete(renderId);
        resolve();
      };
      const timer = setTimeout(done, maxMs);
      listeners.add(done);
      this.#listeners.set(renderId, listeners);
    });
  }

  async stop(graceMs: number): Promise<void> {
    await Promise.all(this.#lanes.map(async (lane) => await lane.stop(graceMs)));
  }

  #createLane(lane: RenderLane): LeasedRunner<StoredRenderJob> {
    const { renders, logger } = this.#dependencies;
    const runner: LeasedRunner<StoredRenderJob> = new LeasedRunner({
      name: `renders of the lane ${lane}`,
      logger,
      room: (running) => this.#room(lane, running),
      claim: async () => {
        const claim = await renders.claim(lane);
        return claim ? [new StoredRenderJob(this.#dependencies, claim, lane === 'fetch', () => runner.wake())] : [];
      },
      onEnded: ({ id }) => this.#notify(id),
    });
    return runner;
  }

  #room(lane: RenderLane, running: readonly StoredRenderJob[]): number {
    if (lane === 'fetch') return MAX_FETCHES - running.filter(({ isFetching }) => isFetching).length;
    const { images, videos } = this.#dependencies.renderer.status();
    // The number is at least one, so that a render is claimed even while all workers restart.
    const workers = Math.max(1, (lane === 'image' ? images : videos).ready);
    const heldBack = running.filter(({ isHeldBack }) => isHeldBack).length;
    return workers - (running.length - Math.min(heldBack, workers));
  }

  #notify(renderId: string): void {
    for (const listener of this.#listeners.get(renderId) ?? []) listener();
  }
}
