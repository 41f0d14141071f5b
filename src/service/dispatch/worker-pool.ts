// Warm worker processes for one kind of asset. A worker that dies is replaced and its task is retried on another
// worker, so callers notice a crash only if the asset itself crashes the decoder.

import { setTimeout as delay } from 'node:timers/promises';
import { AppError } from '../../shared/errors.ts';
import { outOfMemory } from '../../engine/media/memory-shortage.ts';
import type { AssetKind } from '../../engine/media/sniff.ts';
import type { CodecInfo } from '../../engine/media/video/probe/codecs.ts';
import { must } from '../../shared/must.ts';
import type { TaskOf, TaskResults, TaskType, WorkerTask } from './tasks.ts';
import { type Place, PlaceQueue } from './queue/place.ts';
import type { LeaseRequest, PoolStatus } from './renderer.ts';
import { type KillReason, Worker, WorkerLost, type WorkerSpec } from './worker.ts';

export interface WorkerPoolOptions {
  readonly kind: AssetKind;
  /** Prepares the directory and the command line of the next worker. */
  readonly createSpec: () => Promise<WorkerSpec>;
  readonly workers: number;
  /** Additional workers, started with the first task. Long renders never take them, so that short ones don't wait. */
  readonly workersForShort?: number;
  readonly maxWaiting: number;
  /**
   * A worker is replaced after this many tasks, which bounds what decoders leak and what a worker remembers of callers.
   */
  readonly tasksPerWorker: number;
  /** Called with the milliseconds that a task waited for its worker. */
  readonly onWaited: (milliseconds: number) => void;
  /** Called for every task that a worker has ended, but not for one that goes to another worker. */
  readonly onTaskEnded: (task: EndedTask) => void;
  /** Called for every worker that ended unexpectedly, or gave way to another account. */
  readonly onWorkerLost: (lost: WorkerLost, worker: LostWorker) => void;
  /** Called when a worker's directory could not be created or removed. */
  readonly onDirectoryError: (error: unknown) => void;
}

export interface EndedTask {
  readonly type: TaskType;
  readonly worker: string;
  readonly renderId: string | undefined;
  readonly ms: number;
  readonly waitedMs: number;
  /** The reason why there is no result. */
  readonly error?: unknown;
  readonly isCanceled: boolean;
}

export interface LostWorker {
  readonly worker: string;
  readonly pid: number | undefined;
  /** The render that the worker had. */
  readonly renderId: string | undefined;
}

interface TaskRun {
  readonly task: WorkerTask;
  readonly request: LeaseRequest;
  readonly worker: Worker;
  readonly started: number;
  readonly waitedMs: number;
}

const MAX_ATTEMPTS = 2;
/** The part of its deadline for which a worker must be busy with a render, so that the render is the reason why it passed. */
const MIN_BUSY_PART = 0.5;
/** Such a worker was ended on purpose, and its render starts again. */
const GAVE_WAY: KillReason = 'gave way to another account';
/** A worker that has loaded larger fonts of accounts is replaced. */
const MAX_LOADED_BYTES = 64 * 1024 * 1024;
/** After this many failed starts in a row, waiting tasks are rejected. */
const MAX_FAILED_STARTS = 3;
const RESTART_DELAY_MS = 500;
/** The system kills workers when it has no memory left. By then, some renders have ended. */
const RETRY_AFTER_SYSTEM_KILL_MS = 1_000;

export class WorkerPool {
  readonly #options: WorkerPoolOptions;
  #size: number;
  readonly #queue: PlaceQueue<Worker>;
  readonly #workers = new Set<Worker>();
  readonly #ready = new Set<Worker>();
  /** Ready workers without a task, most recently used last. */
  readonly #idle: Worker[] = [];
  /** The ids of renders in progress, for the log. */
  readonly #renderIds = new WeakMap<Worker, string>();
  #codecs: CodecInfo | undefined;
  #started = 0;
  #restarts = 0;
  #failedStarts = 0;
  #closing = false;

  constructor(options: WorkerPoolOptions) {
    this.#options = options;
    this.#size = options.workers;
    const { workers, workersForShort = 0 } = options;
    const slots = {
      total: () => workers + workersForShort,
      forShort: () => workersForShort,
      free: () => this.#idle.length,
      take: () => must(this.#idle.pop(), 'an idle worker'),
      giveBack: (worker: Worker) => this.#giveBack(worker),
    };
    this.#queue = new PlaceQueue(options.kind, slots, options.maxWaiting);
    for (let count = 0; count < this.#size; count += 1) this.#spawn();
  }

  get codecs(): CodecInfo | undefined {
    return this.#codecs;
  }

  status(): PoolStatus {
    return {
      workers: this.#size,
      ready: this.#ready.size,
      busy: this.#ready.size - this.#idle.length,
      waiting: this.#queue.waiting,
      backlogMs: this.#queue.backlogMs,
      restarts: this.#restarts,
    };
  }

  async close(): Promise<void> {
    this.#closing = true;
    this.#queue.rejectWaiting(shuttingDown());
    const workers = [...this.#workers];
    for (const worker of workers) worker.kill();
    await Promise.all(workers.map((worker) => worker.exited));
  }

  refusal(account: string): AppError | undefined {
    return this.#queue.refusal(account);
  }

  place(request: LeaseRequest): Place<Worker> {
    this.#addWorkersForShort();
    return this.#queue.place(request);
  }

  /** Runs a step of a lease on its worker, or on another one if that worker is lost. */
  async run<Type extends TaskType>(
    task: TaskOf<Type>,
    place: Place<Worker>,
    request: LeaseRequest,
    onProgress?: (fraction: number) => void,
  ): Promise<TaskResults[Type]> {
    const { signal } = request;
    const losses: WorkerLost[] = [];
    for (;;) {
      if (losses.at(-1)?.isKilledBySystem) await pause(signal);
      const queued = performance.now();
      const worker = await this.#workerOf(place);
      const started = performance.now();
      this.#options.onWaited(started - queued);
      const run = { task, request, worker, started, waitedMs: started - queued };
      if (request.renderId !== undefined) this.#renderIds.set(worker, request.renderId);
      request.onAssigned?.(worker.name, task.type);
      place.begin();
      const stopTurnWatch = place.watchTurn(() => worker.kill(GAVE_WAY));
      try {
        const result = await worker.run<Type>(task, signal, onProgress);
        this.#learn(task, performance.now() - started);
        this.#reportEnd(run);
        return result;
      } catch (error) {
        if (worker.killReason === GAVE_WAY && !signal.aborted) continue;
        if (error instanceof WorkerLost) losses.push(error);
        if (error instanceof WorkerLost && isRepeatable(error) && losses.length < MAX_ATTEMPTS) continue;
        const explained = error instanceof WorkerLost ? this.#explain(losses, task) : this.#blame(error, run);
        this.#reportEnd(run, explained);
        throw explained;
      } finally {
        stopTurnWatch();
        this.#renderIds.delete(worker);
      }
    }
  }

  /** A worker may end while its lease holds it between two steps. */
  async #workerOf(place: Place<Worker>): Promise<Worker> {
    for (;;) {
      const worker = await place.slot();
      if (this.#isUsable(worker)) return worker;
      place.leave();
    }
  }

  #isUsable(worker: Worker): boolean {
    return this.#ready.has(worker) && !worker.killed;
  }

  #giveBack(worker: Worker): void {
    if (this.#isWorn(worker)) worker.kill();
    // The successor of a dead or killed worker becomes idle when it is ready.
    if (this.#isUsable(worker)) this.#idle.push(worker);
  }

  #learn(task: WorkerTask, milliseconds: number): void {
    if (task.type === 'render') this.#queue.costs.learn(task.job.recipe, milliseconds);
  }

  #reportEnd({ task, request, worker, started, waitedMs }: TaskRun, error?: unknown): void {
    this.#options.onTaskEnded({
      type: task.type,
      worker: worker.name,
      renderId: request.renderId,
      ms: performance.now() - started,
      waitedMs,
      error,
      isCanceled: request.signal.aborted,
    });
  }

  /** They start with the first render, because many servers never render a video and the processes take memory. */
  #addWorkersForShort(): void {
    const { workers, workersForShort = 0 } = this.#options;
    for (; this.#size < workers + workersForShort; this.#size += 1) this.#spawn();
  }

  /** A deadline that passed while the worker was busy counts against the account, unlike a queue or a busy machine. */
  #blame(error: unknown, { request, worker, started }: TaskRun): unknown {
    if (!(error instanceof AppError) || error.code !== 'deadline_exceeded') return error;
    const workedMs = Math.min(worker.usedMs, performance.now() - started);
    if (workedMs < request.budgetMs[this.#options.kind] * MIN_BUSY_PART) return error;
    return new AppError(error.code, error.message, { cause: error, usedUpTime: true });
  }

  #explain(losses: readonly WorkerLost[], task: WorkerTask): AppError {
    return this.#closing ? shuttingDown() : explainLosses(losses, task);
  }

  #spawn(): void {
    this.#options.createSpec().then(
      (spec) => this.#start(spec),
      (error: unknown) => {
        this.#options.onDirectoryError(error);
        this.#failedStarts += 1;
        this.#respawn();
      },
    );
  }

  #start(spec: WorkerSpec): void {
    const removeDirectory = (): void => {
      spec.directory.remove().catch(this.#options.onDirectoryError);
    };
    if (this.#closing) {
      removeDirectory();
      return;
    }
    this.#started += 1;
    const worker = new Worker(spec, `${this.#options.kind}-${this.#started}`);
    this.#workers.add(worker);
    worker.ready.then(
      (codecs) => {
        this.#codecs = codecs;
        this.#failedStarts = 0;
        this.#ready.add(worker);
        this.#idle.push(worker);
        this.#queue.dispatch();
      },
      // `exited` below handles a worker that ends before it is ready.
      () => undefined,
    );
    void worker.exited.then((exit) => {
      // On shutdown, the directories are removed together.
      if (!this.#closing) removeDirectory();
      this.#replace(worker, worker.lossOf(exit));
    });
  }

  /** Such a worker is replaced when it is free. */
  #isWorn(worker: Worker): boolean {
    if (worker.ranOutOfMemory) return true;
    return worker.tasks >= this.#options.tasksPerWorker || worker.loadedBytes > MAX_LOADED_BYTES;
  }

  #replace(worker: Worker, lost: WorkerLost): void {
    const wasReady = this.#ready.delete(worker);
    this.#workers.delete(worker);
    const index = this.#idle.indexOf(worker);
    if (index >= 0) this.#idle.splice(index, 1);
    if (this.#closing) return;
    if (!wasReady) this.#failedStarts += 1;
    if (!this.#isWorn(worker)) {
      if (lost.killReason !== GAVE_WAY) this.#restarts += 1;
      const { name, pid } = worker;
      this.#options.onWorkerLost(lost, { worker: name, pid, renderId: this.#renderIds.get(worker) });
    }
    this.#respawn();
  }

  /** Waits before the next start if the last workers failed to get ready. */
  #respawn(): void {
    if (this.#failedStarts === 0) {
      this.#spawn();
      return;
    }
    if (this.#failedStarts >= MAX_FAILED_STARTS) {
      this.#queue.rejectWaiting(unavailable('Render workers fail to start. Try again shortly.'));
    }
    setTimeout(() => {
      if (!this.#closing) this.#spawn();
    }, RESTART_DELAY_MS);
  }
}

/** A task that used up its processor time would do so again. */
function isRepeatable({ killReason }: WorkerLost): boolean {
  return killReason !== 'used up its processor time';
}

/**
 * The task used up its processor time, or two processes in a row ended on it. If the system killed one of them, there is too little memory, and the task
 * may succeed later. Otherwise the asset, if there is one, is the likely reason. If it takes more memory than a worker has, the
 * operator gave workers too little. If it makes the decoder crash or hang, the caller has to change it. Retrying would only end
 * more processes.
 */
function explainLosses(losses: readonly WorkerLost[], task: WorkerTask): AppError {
  const lost = must(losses.at(-1), 'the lost worker');
  if (!isRepeatable(lost)) {
    const detail = 'The render used more processor time than a file and captions of this size may take.';
    return new AppError('deadline_exceeded', detail, { cause: lost, usedUpTime: true });
  }
  if (losses.some(({ isKilledBySystem }) => isKilledBySystem)) {
    return unavailable(
      'The system ended the render, probably because it has too little memory. Try again shortly.',
      lost,
      10,
    );
  }
  const asset = task.type === 'probe' ? task.asset : task.job.asset;
  if (lost.killReason === 'took too much memory') return outOfMemory(lost);
  if (!asset) return unavailable('The render was interrupted twice. Try again shortly.', lost);
  const message = 'The decoder crashed or hung twice on this asset, so it cannot be rendered.';
  return new AppError('asset_undecodable', message, { cause: lost });
}

async function pause(signal: AbortSignal): Promise<void> {
  await delay(RETRY_AFTER_SYSTEM_KILL_MS, undefined, { signal }).catch(() => signal.throwIfAborted());
}

function shuttingDown(): AppError {
  return new AppError('shutting_down', 'The service is shutting down. Try again shortly.');
}

function unavailable(message: string, cause?: unknown, retryAfterSeconds = 2): AppError {
  return new AppError('renderer_unavailable', message, { retryAfterSeconds, cause });
}
