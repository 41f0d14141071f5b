// A fixed pool of warm worker processes. One that dies is replaced, and the task it held is tried once more on another, so
// that a crash is invisible unless the asset itself brings the decoder down.

import { AppError } from '../errors.ts';
import type { CodecInfo } from '../media/video/probe/codecs.ts';
import { FairQueue, type QueueEntry } from './fair-queue.ts';
import type { WorkerTask, TaskOf, TaskResults } from './protocol.ts';
import type { PoolStatus } from './renderer.ts';
import { type TaskLimits, Worker, WorkerLost, type WorkerSpec } from './worker.ts';

export interface WorkerPoolOptions {
  /** Makes the place of the next worker. */
  readonly createSpec: () => Promise<WorkerSpec>;
  readonly workers: number;
  readonly maxWaiting: number;
  /** Then a worker retires: what a decoder leaks, and what it remembers of callers, stays bounded. */
  readonly tasksPerWorker: number;
  /** Told how long a task waited for its worker, in milliseconds. */
  readonly onWaited: (milliseconds: number) => void;
  /** Told about every worker that ended unasked. */
  readonly onWorkerLost: (lost: WorkerLost, pid: number | undefined) => void;
  /** Told when a worker's place could not be made, or not be removed after it. */
  readonly onDirectoryError: (error: unknown) => void;
}

const ATTEMPTS = 2;
/** Signals a process gives itself when the code in it is broken or was broken by a file. */
const CRASH_SIGNALS: ReadonlySet<string> = new Set([
  'SIGSEGV',
  'SIGABRT',
  'SIGBUS',
  'SIGILL',
  'SIGFPE',
  'SIGTRAP',
  'SIGXFSZ',
]);
/** After this many workers in a row that never got ready, callers are told instead of waiting. */
const FAILED_STARTS_BEFORE_GIVING_UP = 3;
const RESTART_PAUSE_MS = 500;

export interface TaskResult<Type extends WorkerTask['type']> {
  readonly result: TaskResults[Type];
  /** From the moment a worker had it. */
  readonly workedMs: number;
}

export class WorkerPool {
  readonly #options: WorkerPoolOptions;
  readonly #queue: FairQueue<Worker>;
  readonly #workers = new Set<Worker>();
  readonly #ready = new Set<Worker>();
  #codecs: CodecInfo | undefined;
  #restarts = 0;
  #failedStarts = 0;
  #closing = false;

  constructor(options: WorkerPoolOptions) {
    this.#options = options;
    this.#queue = new FairQueue(options.workers, options.maxWaiting);
    for (let count = 0; count < options.workers; count += 1) this.#spawn();
  }

  get codecs(): CodecInfo | undefined {
    return this.#codecs;
  }

  status(): PoolStatus {
    return {
      workers: this.#options.workers,
      ready: this.#ready.size,
      busy: this.#ready.size - this.#queue.free,
      waiting: this.#queue.waiting,
      backlogMs: Math.round(this.#queue.backlogMs),
      restarts: this.#restarts,
    };
  }

  async close(): Promise<void> {
    this.#closing = true;
    this.#queue.rejectWaiting(new AppError('shutting_down', 'The service is shutting down. Try again shortly.'));
    const workers = [...this.#workers];
    for (const worker of workers) worker.kill();
    await Promise.all(workers.map((worker) => worker.exited));
  }

  assertRoom(account: string): void {
    this.#queue.assertRoom(account);
  }

  adjustCost(account: string, cost: number): void {
    this.#queue.adjustCost(account, cost);
  }

  /** Runs a task on the next free worker; the terms are those of one attempt. */
  async run<Type extends WorkerTask['type']>(
    task: TaskOf<Type>,
    terms: TaskLimits,
    signal: AbortSignal,
    turn: QueueEntry,
  ): Promise<TaskResult<Type>> {
    for (let attempt = 1; ; attempt += 1) {
      const asked = performance.now();
      const worker = await this.#queue.take(signal, attempt > 1 ? { ...turn, isRetry: true } : turn);
      this.#options.onWaited(performance.now() - asked);
      try {
        const began = performance.now();
        const result = await worker.run<Type>(task, terms, signal);
        return { result, workedMs: performance.now() - began };
      } catch (error) {
        if (!(error instanceof WorkerLost)) throw error;
        if (attempt === ATTEMPTS) throw explainLoss(error, task);
      } finally {
        // A dead or dying worker leaves the pool; its successor enters by itself.
        if (worker.tasks >= this.#options.tasksPerWorker) worker.kill();
        if (this.#ready.has(worker) && !worker.killed) this.#queue.put(worker);
      }
    }
  }

  #spawn(): void {
    this.#options.createSpec().then(
      (place) => this.#start(place),
      (error: unknown) => {
        this.#options.onDirectoryError(error);
        this.#failedStarts += 1;
        this.#respawn();
      },
    );
  }

  #start(place: WorkerSpec): void {
    const removePlace = (): void => {
      place.directory.remove().catch(this.#options.onDirectoryError);
    };
    if (this.#closing) {
      removePlace();
      return;
    }
    const worker = new Worker(place);
    this.#workers.add(worker);
    worker.ready.then(
      (codecs) => {
        this.#codecs = codecs;
        this.#failedStarts = 0;
        this.#ready.add(worker);
        this.#queue.put(worker);
      },
      // Told by its end, below.
      () => undefined,
    );
    void worker.exited.then((exit) => {
      // The last ones go with the whole area.
      if (!this.#closing) removePlace();
      this.#replace(worker, new WorkerLost(exit, worker.killReason));
    });
  }

  #replace(worker: Worker, lost: WorkerLost): void {
    const wasReady = this.#ready.delete(worker);
    this.#workers.delete(worker);
    this.#queue.drop(worker);
    if (this.#closing) return;
    if (!wasReady) this.#failedStarts += 1;
    if (worker.tasks < this.#options.tasksPerWorker) {
      this.#restarts += 1;
      this.#options.onWorkerLost(lost, worker.pid);
    }
    this.#respawn();
  }

  /** At once, or after a pause when the last ones never got ready. */
  #respawn(): void {
    if (this.#failedStarts === 0) {
      this.#spawn();
      return;
    }
    if (this.#failedStarts >= FAILED_STARTS_BEFORE_GIVING_UP) {
      this.#queue.rejectWaiting(unavailable('Render workers do not start.'));
    }
    setTimeout(() => {
      if (!this.#closing) this.#spawn();
    }, RESTART_PAUSE_MS);
  }
}

/** Twice lost: an asset that breaks or hangs the decoder is the sender's to mend; anything else is ours. */
function explainLoss(lost: WorkerLost, task: WorkerTask): AppError {
  const asset = task.type === 'probe' ? task.asset : task.job.asset;
  if (asset && lost.killReason === 'took too much memory') {
    return new AppError('asset_undecodable', 'The asset needs more memory than one render may take.', { cause: lost });
  }
  const broke = lost.killReason === 'hung' || lost.exit.code !== null || CRASH_SIGNALS.has(lost.exit.signal ?? '');
  if (asset && broke) {
    return new AppError('asset_undecodable', 'The asset brought the decoder down twice; it cannot be rendered.', {
      cause: lost,
    });
  }
  return unavailable('The render was interrupted twice. Try again shortly.', lost);
}

function unavailable(message: string, cause?: unknown): AppError {
  return new AppError('renderer_unavailable', message, { retryAfterSeconds: 2, cause });
}
