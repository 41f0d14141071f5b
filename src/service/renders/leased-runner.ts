// Runs jobs of the database on this server: claims those that are due, renews their leases while they run, and stops with the
// server. Every API server has the same runners. What a dead server had claimed is claimed again when its lease has run out.

import { setTimeout as wait } from 'node:timers/promises';
import { AppError } from '../../shared/errors.ts';
import type { Logger } from '../telemetry/logger.ts';

const POLL_MS = 500;
/** How often a lease is renewed, which also writes the progress of a render. Leases last at least ten times as long. */
const RENEW_MS = 2_000;
const WRITE_ATTEMPTS = 8;
const FIRST_PAUSE_MS = 500;

/** One attempt at a job that this server has claimed. */
export interface LeasedJob {
  readonly id: string;
  /** Its ids in log entries. */
  readonly entry: Readonly<Record<string, unknown>>;
  /** Extends the lease. False when the job was canceled or claimed by another server. Without it, the lease is long enough. */
  renew?(): Promise<boolean>;
  /** Does the work, and writes how it ended. Gives the job back if `control.signal` fires first. Never rejects. */
  run(control: JobControl): Promise<void>;
}

export interface JobControl {
  /** Fires with `LeaseLost`, with `shutting_down`, or with what `abort` was given. */
  readonly signal: AbortSignal;
  readonly abort: (reason: unknown) => void;
  /** Repeats a write while the database is unavailable, because giving up would repeat the work of the job. */
  readonly write: <Result>(write: () => Promise<Result>) => Promise<Result>;
}

/** The job was canceled or belongs to another server, so nothing about it may be changed here. */
export class LeaseLost extends Error {
  constructor(id: string) {
    super(`the lease of ${id} is lost`);
    this.name = 'LeaseLost';
  }
}

export interface LeasedRunnerOptions<Job extends LeasedJob> {
  /** In log entries, such as `webhooks`. */
  readonly name: string;
  readonly logger: Logger;
  /** How many more jobs may run beside these. */
  readonly room: (running: readonly Job[]) => number;
  /** Takes the leases of jobs that are due, at most `count`. */
  readonly claim: (count: number) => Promise<readonly Job[]>;
  readonly onEnded?: (job: Job) => void;
}

export class LeasedRunner<Job extends LeasedJob> {
  readonly #options: LeasedRunnerOptions<Job>;
  readonly #running = new Map<Job, AbortController>();
  readonly #ended = new Set<Promise<void>>();
  #timer: NodeJS.Timeout | undefined;
  #filling: Promise<void> | undefined;
  #isStopping = false;
  #abortReason: AppError | undefined;

  constructor(options: LeasedRunnerOptions<Job>) {
    this.#options = options;
  }

  get running(): number {
    return this.#running.size;
  }

  get isStopping(): boolean {
    return this.#isStopping;
  }

  start(): void {
    this.#timer = setInterval(() => this.wake(), POLL_MS).unref();
    this.wake();
  }

  /** There may be a job to claim, or room for another. */
  wake(): void {
    if (this.#isStopping || this.#filling !== undefined) return;
    this.#filling = this.#fill().finally(() => {
      this.#filling = undefined;
    });
  }

  /** Stops work on a job that was canceled. On another server, its lease can't be renewed. */
  drop(id: string): void {
    for (const [job, controller] of this.#running) if (job.id === id) controller.abort(new LeaseLost(id));
  }

  /** Claims nothing more. Jobs that haven't ended after `graceMs` are given back. */
  async stop(graceMs: number): Promise<void> {
    this.#isStopping = true;
    clearInterval(this.#timer);
    const abort = setTimeout(() => {
      this.#abortReason = new AppError('shutting_down', 'The server is shutting down.');
      for (const controller of this.#running.values()) controller.abort(this.#abortReason);
    }, graceMs);
    await this.#filling;
    await Promise.all(this.#ended);
    clearTimeout(abort);
  }

  async #fill(): Promise<void> {
    const { name, logger, claim } = this.#options;
    try {
      for (let room = this.#room(); room > 0; room = this.#room()) {
        const claimed = await claim(room);
        if (claimed.length === 0) return;
        for (const job of claimed) this.#begin(job);
      }
    } catch (error) {
      logger.warn({ jobs: name, err: error }, 'claiming jobs failed, retrying');
    }
  }

  #room(): number {
    return this.#isStopping ? 0 : this.#options.room([...this.#running.keys()]);
  }

  #begin(job: Job): void {
    const controller = new AbortController();
    this.#running.set(job, controller);
    // The claim was on its way when the runner stopped.
    if (this.#abortReason) controller.abort(this.#abortReason);
    const renewals = this.#renew(job, controller);
    const ended = job.run(this.#controlOf(job, controller)).finally(() => {
      clearInterval(renewals);
      this.#running.delete(job);
      this.#ended.delete(ended);
      this.#options.onEnded?.(job);
      this.wake();
    });
    this.#ended.add(ended);
  }

  #controlOf({ entry }: Job, controller: AbortController): JobControl {
    return {
      signal: controller.signal,
      abort: (reason) => controller.abort(reason),
      write: async (write) => await this.#write(entry, write),
    };
  }

  #renew(job: Job, controller: AbortController): NodeJS.Timeout | undefined {
    const { logger } = this.#options;
    const { id, entry } = job;
    if (job.renew === undefined) return undefined;
    return setInterval(() => {
      job.renew?.().then(
        (isOurs) => {
          if (!isOurs) controller.abort(new LeaseLost(id));
        },
        (error: unknown) => logger.warn({ ...entry, err: error }, 'lease of a job not renewed, retrying'),
      );
    }, RENEW_MS).unref();
  }

  /** Tries again while the database is unavailable, except during a shutdown, which no pause may delay. */
  async #write<Result>(entry: LeasedJob['entry'], write: () => Promise<Result>): Promise<Result> {
    for (let attempt = 1; ; attempt += 1) {
      try {
        return await write();
      } catch (error) {
        if (!(error instanceof AppError) || error.code !== 'storage_unavailable') throw error;
        if (attempt === WRITE_ATTEMPTS || this.#isStopping) throw error;
        this.#options.logger.warn({ ...entry, err: error }, 'end of a job not written, retrying');
        await wait(FIRST_PAUSE_MS * attempt);
      }
    }
  }
}
