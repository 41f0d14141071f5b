// Runs accepted renders on this server: claims rows that are due, keeps their leases and writes how they ended. Every
// API server has one runner. Renders of a dead server are claimed again when its lease has run out.

import { AttemptLost } from '../store/renders/lock-attempt.ts';
import type { Renders } from '../store/renders/renders.ts';
import { ASYNC_BUDGET_MS } from '../dispatch/renderer.ts';
import { toProblem } from '../api/problem.ts';
import { AppError, asAppError, type ErrorCode } from '../errors.ts';
import {
  type ClaimedRender,
  RENDER_LANES,
  type RenderLane,
  type RenderRecord,
  type RenderSuccess,
} from '../store/renders/render.ts';
import type { Metrics } from '../telemetry/metrics.ts';
import { type AttemptDependencies, isLost, runAttempt } from './run-attempt.ts';
import { repeatWrite } from './repeat-write.ts';

export interface RunnerOptions extends AttemptDependencies {
  readonly renders: Renders;
  readonly metrics: Metrics;
  /** Used for links to the documentation in problems. Undefined if it isn't set. */
  readonly publicUrl: string | undefined;
}

const POLL_MS = 500;
/** How often the lease is renewed and the progress is written. The lease lasts ten times as long. */
const RENEW_MS = 3_000;
const MAX_RETRY_MS = 30_000;
const FIRST_RETRY_MS = 500;
/** A render that ends its worker again and again is itself the cause. */
const MAX_ATTEMPTS = 20;
/** Fetching takes a connection and little else. The store limits the number per account. */
const MAX_FETCHES = 64;
/** Codes of temporary failures of this service. */
const TEMPORARY: ReadonlySet<ErrorCode> = new Set([
  'overloaded',
  'renderer_unavailable',
  'storage_unavailable',
  'storage_full',
  'shutting_down',
]);

export class RenderRunner {
  readonly #options: RunnerOptions;
  readonly #running: Record<RenderLane, Map<string, AbortController>> = {
    image: new Map(),
    video: new Map(),
    fetch: new Map(),
  };
  /** Renders whose file is being fetched. One that waits for a worker afterwards must not keep other files from arriving. */
  readonly #fetching = new Set<AbortController>();
  /** Long renders that wait for another long one. They must not keep short ones from being claimed. */
  readonly #heldBack = new Set<AbortController>();
  readonly #ended = new Set<Promise<void>>();
  readonly #listeners = new Map<string, Set<() => void>>();
  readonly #filling = new Set<RenderLane>();
  #timer: NodeJS.Timeout | undefined;
  #isStopping = false;

  constructor(options: RunnerOptions) {
    this.#options = options;
  }

  get running(): number {
    return RENDER_LANES.reduce((sum, lane) => sum + this.#running[lane].size, 0);
  }

  start(): void {
    this.#timer = setInterval(() => this.wake(), POLL_MS).unref();
    this.wake();
  }

  /** Tells the runner that there may be a render to claim. */
  wake(): void {
    for (const lane of RENDER_LANES) void this.#fill(lane);
  }

  /** Stops work on a canceled render. On another server, the lease can't be renewed. */
  cancel(renderId: string): void {
    for (const lane of RENDER_LANES) this.#running[lane].get(renderId)?.abort(new AttemptLost(renderId));
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

  /** Claims nothing more, and gives back renders that haven't ended after `graceMs`. */
  async stop(graceMs: number): Promise<void> {
    this.#isStopping = true;
    clearInterval(this.#timer);
    const abort = setTimeout(() => {
      const reason = new AppError('shutting_down', 'The server is shutting down.');
      for (const lane of RENDER_LANES) for (const running of this.#running[lane].values()) running.abort(reason);
    }, graceMs);
    await Promise.all(this.#ended);
    clearTimeout(abort);
  }

  #hasRoom(lane: RenderLane): boolean {
    if (lane === 'fetch') return this.#fetching.size < MAX_FETCHES;
    const { images, videos } = this.#options.renderer.status();
    // The number is at least one, so that a render is claimed even while all workers restart.
    const workers = Math.max(1, (lane === 'image' ? images : videos).ready);
    const running = [...this.#running[lane].values()];
    const heldBack = running.filter((controller) => this.#heldBack.has(controller)).length;
    return running.length - Math.min(heldBack, workers) < workers;
  }

  async #fill(lane: RenderLane): Promise<void> {
    if (this.#filling.has(lane)) return;
    this.#filling.add(lane);
    try {
      while (!this.#isStopping && this.#hasRoom(lane)) {
        const claim = await this.#options.renders.claim(lane);
        if (claim === undefined) break;
        this.#begin(lane, claim);
      }
    } catch (error) {
      this.#options.logger.warn({ lane, err: error }, 'claiming accepted renders failed, retrying');
    } finally {
      this.#filling.delete(lane);
    }
  }

  #begin(lane: RenderLane, claim: ClaimedRender): void {
    const { renderId } = claim.attempt;
    const controller = new AbortController();
    this.#running[lane].set(renderId, controller);
    if (lane === 'fetch') this.#fetching.add(controller);
    const ended = this.#run(lane, claim, controller).finally(() => {
      this.#fetching.delete(controller);
      this.#heldBack.delete(controller);
      // After a stall, this server may have claimed its own render again.
      if (this.#running[lane].get(renderId) === controller) this.#running[lane].delete(renderId);
      this.#ended.delete(ended);
      this.#notify(renderId);
      if (!this.#isStopping) void this.#fill(lane);
    });
    this.#ended.add(ended);
  }

  #notify(renderId: string): void {
    for (const listener of this.#listeners.get(renderId) ?? []) listener();
  }

  /** Never rejects. */
  async #run(lane: RenderLane, claim: ClaimedRender, controller: AbortController): Promise<void> {
    const started = performance.now();
    const { logger } = this.#options;
    const entry = { renderId: claim.render.id, accountId: claim.render.accountId, attempt: claim.attempt.number };
    let progress = 0;
    const lease = this.#keepLease(claim, controller, () => progress);
    try {
      const success = await runAttempt(this.#options, claim, controller.signal, {
        onLoaded: () => {
          if (this.#fetching.delete(controller)) void this.#fill(lane);
        },
        onStarted: () => {
          this.#heldBack.delete(controller);
          lease.start();
        },
        onHeldBack: () => {
          this.#heldBack.add(controller);
          void this.#fill(lane);
        },
        onProgress: (fraction) => {
          progress = fraction;
        },
      });
      await this.#succeed(claim, success);
      await this.#deleteAsset(claim.render);
      logger.info(
        { ...entry, credits: success.credits, ms: Math.round(success.durationMs) },
        'asynchronous render succeeded',
      );
    } catch (error) {
      const cause: unknown = controller.signal.aborted ? controller.signal.reason : error;
      if (isLost(cause)) logger.info(entry, 'asynchronous render canceled or taken over');
      else await this.#endAttempt(claim, asAppError(cause), performance.now() - started);
    } finally {
      lease.stop();
    }
  }

  async #succeed({ attempt, render }: ClaimedRender, success: RenderSuccess): Promise<void> {
    const { renders, storage, metrics } = this.#options;
    const { renderId } = attempt;
    const isFirst = await this.#write(renderId, async () => await renders.succeed(attempt, success));
    if (isFirst) {
      metrics.charged(success.credits);
      return;
    }
    // A repeated write finds the render ended by the first one, whose outcome was unknown.
    const stored = await renders.find({ accountId: render.accountId }, renderId);
    if (stored?.output?.token === success.output.token) return;
    await storage.delete(success.output.name);
    throw new AttemptLost(renderId);
  }

  /** The sweep would delete the asset, too, but later. Never rejects. */
  async #deleteAsset({ id: renderId, asset }: RenderRecord): Promise<void> {
    if (asset === undefined) return;
    const { renders, storage, logger } = this.#options;
    try {
      await storage.delete(asset.name);
      await renders.markDeleted({ renderId, kind: 'asset', name: asset.name });
    } catch (error) {
      logger.warn({ renderId, object: asset.name, err: error }, 'stored object not deleted, left to the sweep');
    }
  }

  /** A temporary failure leaves the render, with its credits, to a later attempt. */
  async #endAttempt({ attempt, render }: ClaimedRender, error: AppError, durationMs: number): Promise<void> {
    const { renders, logger, publicUrl } = this.#options;
    const { renderId, number } = attempt;
    const entry = { renderId, accountId: render.accountId, attempt: number, code: error.code };
    const age = Date.now() - (render.startedAt ?? new Date()).getTime();
    const isShutdown = error.code === 'shutting_down';
    // Neither a shutdown nor unavailable or full storage can be the fault of the render.
    const mayRepeat = number < MAX_ATTEMPTS || isShutdown || error.code.startsWith('storage_');
    try {
      if (TEMPORARY.has(error.code) && age < ASYNC_BUDGET_MS && mayRepeat) {
        const delayMs = isShutdown ? 0 : Math.min(MAX_RETRY_MS, FIRST_RETRY_MS * 2 ** Math.min(10, number - 1));
        const err = error.cause;
        logger.info({ ...entry, delayMs, ...(err !== undefined && { err }) }, 'asynchronous render postponed');
        await this.#write(renderId, async () => await renders.giveBack(attempt, delayMs));
        return;
      }
      const problem = toProblem(error, renderId, publicUrl);
      await this.#write(renderId, async () => {
        return await renders.fail(attempt, { error: JSON.stringify(problem), code: error.code, durationMs });
      });
      await this.#deleteAsset(render);
      if (problem.status >= 500) logger.error({ ...entry, err: error.cause ?? error }, 'asynchronous render failed');
      else logger.info(entry, 'asynchronous render refused');
    } catch (unwritten) {
      logger.warn({ ...entry, err: unwritten }, 'end of an asynchronous render not written, left to its lease');
    }
  }

  /** Repeats a write while the database is unavailable. */
  async #write<Result>(renderId: string, write: () => Promise<Result>): Promise<Result> {
    return await repeatWrite(write, {
      isStopping: () => this.#isStopping,
      onFailure: (error) => this.#options.logger.warn({ renderId, err: error }, 'render record write failed, retrying'),
    });
  }

  /** Also ends an attempt at its deadline, which counts from the first start of the render. */
  #keepLease({ attempt, render }: ClaimedRender, controller: AbortController, progress: () => number): AttemptLease {
    const { renders, logger } = this.#options;
    const { renderId } = attempt;
    const renewals = setInterval(() => {
      renders.renew(attempt, progress()).then(
        (isOurs) => {
          if (!isOurs) controller.abort(new AttemptLost(renderId));
        },
        (error: unknown) => logger.warn({ renderId, err: error }, 'lease of a render not renewed, retrying'),
      );
    }, RENEW_MS).unref();
    let deadline: NodeJS.Timeout | undefined;
    return {
      start: () => {
        renders
          .start(attempt)
          .catch((error: unknown) => logger.warn({ renderId, err: error }, 'start of a render not written'));
        const leftMs = ASYNC_BUDGET_MS - (Date.now() - (render.startedAt ?? new Date()).getTime());
        deadline ??= setTimeout(
          () => {
            const detail = `The render took longer than ${ASYNC_BUDGET_MS / 1_000} seconds.`;
            controller.abort(new AppError('deadline_exceeded', detail));
          },
          Math.max(0, leftMs),
        ).unref();
      },
      stop: () => {
        clearInterval(renewals);
        clearTimeout(deadline);
      },
    };
  }
}

interface AttemptLease {
  /** Called when a worker starts to render. */
  readonly start: () => void;
  readonly stop: () => void;
}
