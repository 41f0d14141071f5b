// One render worker process, seen from the server: give it a task, get the result or the reason why there is none.

import { ManagedProcess, type ProcessExit, type StartOptions } from '../media/process.ts';
import { innermostProcess, raiseOomScore } from '../media/process-tree.ts';
import type { CodecInfo } from '../media/video/probe/codecs.ts';
import { watchMemory } from './memory-watch.ts';
import { InvalidReport, parseResult, parseWorkerMessage, type TaskFailure, toError } from './reports.ts';
import type { TaskOf, TaskResults, TaskType, WorkerCommand } from './tasks.ts';
import type { WorkerDirectory } from './worker-directory.ts';

/** Why the server killed a worker. */
export type KillReason = 'hung' | 'took too much memory' | 'was busy when canceled' | `sent an ${string}`;

/** The process ended or was killed before it reported a result. The task may be retried on another worker. */
export class WorkerLost extends Error {
  readonly exit: ProcessExit;
  readonly killReason: KillReason | undefined;

  constructor(exit: ProcessExit, killReason?: KillReason) {
    super(killReason ? `the render worker ${killReason}` : `the render worker exited (${exit.signal ?? exit.code})`);
    this.name = 'WorkerLost';
    this.exit = exit;
    this.killReason = killReason;
  }
}

/** How to start a worker, and its limits. */
export interface WorkerSpec {
  readonly start: StartOptions;
  readonly directory: WorkerDirectory;
  /** A worker that takes more is killed. */
  readonly memoryBytes: number;
}

/** Limits of one attempt at a task. */
export interface TaskLimits {
  /** After this many milliseconds the worker counts as hung. */
  readonly limitMs: number;
  readonly onProgress?: ((fraction: number) => void) | undefined;
}

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
  readonly onProgress: ((fraction: number) => void) | undefined;
}

export class Worker {
  /** For logs, such as `image-3`. Unique among the workers of a process. */
  readonly name: string;
  readonly #process: ManagedProcess;
  /** Resolves with the codecs of a video worker. */
  readonly ready: Promise<CodecInfo | undefined>;
  readonly exited: Promise<ProcessExit>;
  readonly #directory: WorkerDirectory;
  readonly #memoryBytes: number;
  #pending: PendingTask | undefined;
  #killed = false;
  #isReady = false;
  #killReason: KillReason | undefined;
  #nextId = 1;

  constructor({ start, directory, memoryBytes }: WorkerSpec, name: string) {
    this.name = name;
    this.#directory = directory;
    this.#memoryBytes = memoryBytes;
    this.#process = new ManagedProcess(start);
    this.exited = this.#process.exited;
    this.ready = new Promise((resolve, reject) => {
      this.#process.onMessage((message) => this.#receive(message, resolve));
      void this.exited.then((exit) => reject(new WorkerLost(exit, this.#killReason)));
    });
  }

  get pid(): number | undefined {
    return this.#process.pid;
  }

  /** Number of tasks given to this worker so far. */
  get tasks(): number {
    return this.#nextId - 1;
  }

  /** True as soon as the kill is decided, before the process has ended. */
  get killed(): boolean {
    return this.#killed;
  }

  get killReason(): KillReason | undefined {
    return this.#killReason;
  }

  kill(killReason?: KillReason): void {
    this.#killReason ??= killReason;
    this.#killed = true;
    this.#process.kill();
  }

  /** Rejects with `WorkerLost` when the process dies or is killed, and with the signal's reason when canceled. */
  async run<Type extends TaskType>(
    task: TaskOf<Type>,
    limits: TaskLimits,
    signal: AbortSignal,
  ): Promise<TaskResults[Type]> {
    signal.throwIfAborted();
    const id = this.#nextId;
    this.#nextId += 1;
    const staged = await this.#directory.stage(task);
    const stopWatching = this.#watch(limits.limitMs);
    const onAbort = (): void => this.#cancel(id);
    signal.addEventListener('abort', onAbort, { once: true });
    try {
      signal.throwIfAborted();
      const outcome = await this.#perform<Type>(id, staged.task, limits.onProgress);
      signal.throwIfAborted();
      if (outcome.type === 'failed') throw toError(outcome.failure);
      await staged.collect();
      return outcome.result;
    } catch (error) {
      signal.throwIfAborted();
      throw error;
    } finally {
      stopWatching();
      signal.removeEventListener('abort', onAbort);
      this.#pending = undefined;
      // A directory that can't be cleaned up holds something the server didn't ask for.
      await staged.cleanUp().catch(() => this.kill());
    }
  }

  /** Kills the worker when it takes too long or too much memory; the returned function ends the watch. */
  #watch(limitMs: number): () => void {
    const timer = setTimeout(() => this.kill('hung'), limitMs);
    const { pid } = this.#process;
    const stopMemoryWatch =
      pid === undefined ? undefined : watchMemory(pid, this.#memoryBytes, () => this.kill('took too much memory'));
    return () => {
      clearTimeout(timer);
      stopMemoryWatch?.();
    };
  }

  async #perform<Type extends TaskType>(
    id: number,
    task: TaskOf<Type>,
    onProgress: TaskLimits['onProgress'],
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
      throw new WorkerLost(exit, this.#killReason);
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

  /** A worker that sends anything but a report it owes is broken or compromised, and is killed. */
  #receive(value: unknown, onReady: (codecs: CodecInfo | undefined) => void): void {
    try {
      const message = parseWorkerMessage(value);
      if (message.type === 'ready') return this.#onReady(message.codecs, onReady);
      const pending = this.#pending;
      if (message.id !== pending?.id) throw new InvalidReport('message.id', `there is no task ${message.id}`);
      if (message.type === 'progress') pending.onProgress?.(message.fraction);
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
