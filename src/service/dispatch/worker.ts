// One render worker process, seen from the server. It gets a task and returns the result, or the reason why there is
// none.

import { ManagedProcess, type ProcessExit, type StartOptions } from '../../engine/media/process.ts';
import { innermostProcess, raiseOomScore } from '../../engine/media/process-tree.ts';
import type { CodecInfo } from '../../engine/media/video/probe/codecs.ts';
import { watchMemory } from './memory-watch.ts';
import { processorBudgetMs } from './processor-budget.ts';
import { type ProgressWatch, type WatchOptions, watchProgress } from './progress-watch.ts';
import { InvalidReport, parseResult, parseWorkerMessage, type TaskFailure, toError } from './reports.ts';
import type { TaskOf, TaskResults, TaskType, WorkerCommand, WorkerTask } from './tasks.ts';
import type { WorkerDirectory } from './worker-directory.ts';

/** The reason why the server killed a worker. */
export type KillReason =
  | 'hung'
  | 'took too much memory'
  | 'used up its processor time'
  | 'gave way to another account'
  | 'was busy when canceled'
  | `sent an ${string}`;

/** The process ended or was killed before it reported a result. The task may be retried on another worker. */
export class WorkerLost extends Error {
  readonly exit: ProcessExit;
  readonly killReason: KillReason | undefined;
  /** True if the system killed the process, which it does when it has no memory left, and not this program. */
  readonly isKilledBySystem: boolean;

  constructor(exit: ProcessExit, { isKilled, killReason }: { isKilled: boolean; killReason?: KillReason | undefined }) {
    super(killReason ? `the render worker ${killReason}` : `the render worker exited (${exit.signal ?? exit.code})`);
    this.name = 'WorkerLost';
    this.exit = exit;
    this.killReason = killReason;
    this.isKilledBySystem = exit.signal === 'SIGKILL' && !isKilled;
  }
}

/** The command that starts a worker, and its limits. */
export interface WorkerSpec {
  readonly start: StartOptions;
  readonly directory: WorkerDirectory;
  /** The memory limit. A worker that takes more is killed. */
  readonly memoryBytes: number;
  /** Determines whether the worker hangs. Tests have clocks of their own. */
  readonly watch?: WatchOptions;
}

type OnProgress = (fraction: number) => void;

/** How long a canceled worker may take to stop by itself before it is killed. */
const CANCEL_GRACE_MS = 100;

type Outcome<Result> =
  | { readonly type: 'done'; readonly result: Result }
  | { readonly type: 'failed'; readonly failure: TaskFailure };

interface PendingTask {
  readonly id: number;
  /** Throws `InvalidReport` when the result isn't one of this task. */
  readonly complete: (result: unknown) => void;
  readonly fail: (failure: TaskFailure) => void;
  readonly onProgress: OnProgress;
}

export class Worker {
  /** The name for logs, such as `image-3`. Unique among the workers of a process. */
  readonly name: string;
  readonly #process: ManagedProcess;
  /** Resolves with the codecs of a video worker. */
  readonly ready: Promise<CodecInfo | undefined>;
  readonly exited: Promise<ProcessExit>;
  readonly #directory: WorkerDirectory;
  readonly #memoryBytes: number;
  readonly #watchOptions: WatchOptions | undefined;
  #pending: PendingTask | undefined;
  #killed = false;
  #isReady = false;
  #killReason: KillReason | undefined;
  #nextId = 1;
  #ranOutOfMemory = false;
  #usedMs = 0;
  /** Fonts that the process has loaded, by hash. */
  readonly #loaded = new Map<string, number>();

  constructor({ start, directory, memoryBytes, watch }: WorkerSpec, name: string) {
    this.name = name;
    this.#directory = directory;
    this.#memoryBytes = memoryBytes;
    this.#watchOptions = watch;
    this.#process = new ManagedProcess(start);
    this.exited = this.#process.exited;
    this.ready = new Promise((resolve, reject) => {
      this.#process.onMessage((message) => this.#receive(message, resolve));
      void this.exited.then((exit) => reject(this.lossOf(exit)));
    });
  }

  get pid(): number | undefined {
    return this.#process.pid;
  }

  /** Returns the number of tasks given to this worker so far. */
  get tasks(): number {
    return this.#nextId - 1;
  }

  /** Returns the size of all fonts that the process has loaded. It keeps them as long as it runs. */
  get loadedBytes(): number {
    return [...this.#loaded.values()].reduce((sum, bytes) => sum + bytes, 0);
  }

  /** True after a task for which the process had too little memory. What that task left behind may take it from the next one. */
  get ranOutOfMemory(): boolean {
    return this.#ranOutOfMemory;
  }

  /** Returns the processor time of the last task in milliseconds, without the first seconds and the last ones. */
  get usedMs(): number {
    return this.#usedMs;
  }

  /** True as soon as the kill is decided, before the process has ended. */
  get killed(): boolean {
    return this.#killed;
  }

  get killReason(): KillReason | undefined {
    return this.#killReason;
  }

  /** Returns what the end of the process means. */
  lossOf(exit: ProcessExit): WorkerLost {
    return new WorkerLost(exit, { isKilled: this.#process.isKilled, killReason: this.#killReason });
  }

  kill(killReason?: KillReason): void {
    this.#killReason ??= killReason;
    this.#killed = true;
    this.#process.kill();
  }

  /** Rejects with `WorkerLost` when the process dies or is killed, and with the signal's reason when canceled. */
  async run<Type extends TaskType>(
    task: TaskOf<Type>,
    signal: AbortSignal,
    onProgress?: OnProgress,
  ): Promise<TaskResults[Type]> {
    signal.throwIfAborted();
    const id = this.#nextId;
    this.#nextId += 1;
    this.#noteFonts(task);
    const staged = await this.#directory.stage(task);
    const watch = this.#watch(processorBudgetMs(task));
    const onAbort = (): void => this.#cancel(id);
    signal.addEventListener('abort', onAbort, { once: true });
    try {
      signal.throwIfAborted();
      const outcome = await this.#perform<Type>(id, staged.task, (fraction) => {
        watch?.progressed();
        onProgress?.(fraction);
      });
      signal.throwIfAborted();
      if (outcome.type === 'failed') {
        if (outcome.failure.code === 'out_of_memory') this.#ranOutOfMemory = true;
        throw toError(outcome.failure);
      }
      await staged.collect();
      return outcome.result;
    } catch (error) {
      signal.throwIfAborted();
      throw error;
    } finally {
      watch?.stop();
      this.#usedMs = watch?.usedMs() ?? 0;
      signal.removeEventListener('abort', onAbort);
      this.#pending = undefined;
      // A directory that can't be cleaned up contains something unexpected.
      await staged.cleanUp().catch(() => this.kill());
    }
  }

  #noteFonts(task: WorkerTask): void {
    if (task.type !== 'render') return;
    for (const { sha256, bytes } of task.job.files ?? []) this.#loaded.set(sha256, bytes);
  }

  /** Kills the worker when it hangs, uses up its processor time or takes too much memory. */
  #watch(budgetMs: number | undefined): ProgressWatch | undefined {
    const { pid } = this.#process;
    // The process could not be started, which `exited` reports.
    if (pid === undefined) return undefined;
    const limits = {
      budgetMs,
      onHung: () => this.kill('hung'),
      onBudgetUsedUp: () => this.kill('used up its processor time'),
    };
    const { stop, ...watch } = watchProgress(pid, limits, this.#watchOptions);
    const stopMemoryWatch = watchMemory(pid, this.#memoryBytes, () => this.kill('took too much memory'));
    return {
      ...watch,
      stop: () => {
        stop();
        stopMemoryWatch();
      },
    };
  }

  async #perform<Type extends TaskType>(
    id: number,
    task: TaskOf<Type>,
    onProgress: OnProgress,
  ): Promise<Outcome<TaskResults[Type]>> {
    const reported = new Promise<Outcome<TaskResults[Type]>>((resolve) => {
      this.#pending = {
        id,
        complete: (result) => resolve({ type: 'done', result: parseResult<Type>(task, result) }),
        fail: (failure) => resolve({ type: 'failed', failure }),
        onProgress,
      };
    });
    this.#send({ type: 'task', id, task });
    const lost = this.exited.then((exit) => {
      throw this.lossOf(exit);
    });
    return await Promise.race([reported, lost]);
  }

  /** A worker between two steps stops immediately and stays warm. One that is busy inside a decoder is killed. */
  #cancel(id: number): void {
    this.#send({ type: 'cancel', id });
    setTimeout(() => {
      if (this.#pending?.id === id) this.kill('was busy when canceled');
    }, CANCEL_GRACE_MS);
  }

  #send(message: WorkerCommand): void {
    if (!this.#process.send(message)) this.kill();
  }

  /** A worker that sends anything but an expected report is broken or compromised, and is killed. */
  #receive(value: unknown, onReady: (codecs: CodecInfo | undefined) => void): void {
    try {
      const message = parseWorkerMessage(value);
      if (message.type === 'ready') return this.#onReady(message.codecs, onReady);
      const pending = this.#pending;
      if (message.id !== pending?.id) throw new InvalidReport('message.id', `there is no task ${message.id}`);
      if (message.type === 'progress') pending.onProgress(message.fraction);
      else if (message.type === 'done') pending.complete(message.result);
      else pending.fail(message.failure);
    } catch (error) {
      if (!(error instanceof InvalidReport)) throw error;
      this.kill(`sent an ${error.message}`);
    }
  }

  #onReady(codecs: CodecInfo | undefined, onReady: (codecs: CodecInfo | undefined) => void): void {
    if (this.#isReady) throw new InvalidReport('message.type', 'ready for the second time');
    this.#isReady = true;
    const pid = this.#process.pid === undefined ? undefined : innermostProcess(this.#process.pid);
    if (pid !== undefined) raiseOomScore(pid);
    onReady(codecs);
  }
}
