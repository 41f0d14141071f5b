// Runs accepted renders on this server, those of each lane beside those of the others, and sends their files.

import {
  type ClaimedRender,
  RENDER_LANES,
  type RenderLane,
  type RenderRecord,
  type RenderScope,
} from '../store/renders/render.ts';
import { type LeasedJob, LeasedRunner } from './leased-runner.ts';
import { PutJob, type PutJobDependencies } from './put-job.ts';
import { isFromSpeech } from './stored-request.ts';
import { StoredRenderJob, type StoredRenderJobDependencies } from './stored-render-job.ts';

/** Fetching takes a connection and little else. The store limits the number per account. */
const MAX_FETCHES = 64;
/** Sending a file does, too. */
const MAX_PUTS = 64;

export interface RenderRunnerDependencies extends StoredRenderJobDependencies, PutJobDependencies {}

export interface EndWait {
  readonly id: string;
  readonly waitSeconds: number;
  /** Returns true when waiting is useless, such as after the client has left. */
  readonly isOver: () => boolean;
}

/** How often to look for the end of a render that runs on another server. */
const POLL_MS = 500;

/** A lane whose renders need a worker. */
type WorkLane = Exclude<RenderLane, 'put'>;

export class RenderRunner {
  readonly #dependencies: RenderRunnerDependencies;
  readonly #lanes: readonly (LeasedRunner<StoredRenderJob> | LeasedRunner<LeasedJob>)[];
  readonly #listeners = new Map<string, Set<() => void>>();

  constructor(dependencies: RenderRunnerDependencies) {
    this.#dependencies = dependencies;
    this.#lanes = RENDER_LANES.map((lane) => (lane === 'put' ? this.#createPutLane() : this.#createLane(lane)));
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

  /** Returns the render when it has ended or the time is up. Undefined when there is none in scope. */
  async waitForEnd(scope: RenderScope, { id, waitSeconds, isOver }: EndWait): Promise<RenderRecord | undefined> {
    const end = performance.now() + waitSeconds * 1_000;
    for (;;) {
      const ended = this.#ended(id, Math.min(POLL_MS, Math.max(0, end - performance.now())));
      const render = await this.#dependencies.renders.find(scope, id);
      const isUp = performance.now() >= end || isOver();
      if (render === undefined || render.finishedAt !== undefined || isUp) return render;
      await ended;
    }
  }

  async stop(graceMs: number): Promise<void> {
    await Promise.all(this.#lanes.map(async (lane) => await lane.stop(graceMs)));
  }

  /** Resolves when the render ends on this server, at the latest after `maxMs`. */
  async #ended(renderId: string, maxMs: number): Promise<void> {
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

  #createLane(lane: WorkLane): LeasedRunner<StoredRenderJob> {
    const { renders, logger } = this.#dependencies;
    const runner: LeasedRunner<StoredRenderJob> = new LeasedRunner({
      name: `renders of the lane ${lane}`,
      logger,
      room: (running) => this.#room(lane, running),
      claim: async () => {
        const claim = await renders.claim(lane);
        return claim ? [new StoredRenderJob(this.#dependencies, claim, lane === 'fetch', () => runner.wake())] : [];
      },
      onEnded: (job) => {
        // Its file may have to be sent now.
        if (job.isHandedOver) this.wake();
        this.#notify(job.id);
      },
    });
    return runner;
  }

  #createPutLane(): LeasedRunner<LeasedJob> {
    const { renders, logger } = this.#dependencies;
    return new LeasedRunner({
      name: 'files to send',
      logger,
      room: (running) => MAX_PUTS - running.length,
      claim: async () => {
        const claim = await renders.claim('put');
        return claim ? [this.#putJob(claim)] : [];
      },
      onEnded: ({ id }) => this.#notify(id),
    });
  }

  /** The delivery of a file is what charges for its render, and therefore for a transcription. */
  #putJob(claim: ClaimedRender): LeasedJob {
    const { renders, speechCaptions, logger } = this.#dependencies;
    const job = new PutJob(this.#dependencies, claim);
    const { id, accountId, request } = claim.render;
    if (!isFromSpeech(request)) return job;
    const endTranscript = async (): Promise<void> => {
      const ended = await renders.find({ accountId }, id);
      if (ended?.finishedAt && (ended.credits ?? 0) > 0) await speechCaptions.end({ accountId }, id, true);
    };
    return {
      id,
      entry: job.entry,
      renew: async () => await job.renew(),
      run: async (control) => {
        await job.run(control);
        await endTranscript().catch((err: unknown) => {
          logger.warn({ ...job.entry, err }, 'transcription of a delivered render not given back');
        });
      },
    };
  }

  #room(lane: WorkLane, running: readonly StoredRenderJob[]): number {
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
