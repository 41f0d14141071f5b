// One render worker process, seen from the server: give it a task, get the result or the reason why not.

import { AppError } from '../errors.ts';
import { ManagedProcess, type ProcessExit, type StartOptions } from '../media/process.ts';
import { innermostProcess, raiseOomScore } from '../media/process-tree.ts';
import type { CodecInfo } from '../media/video/probe/codecs.ts';
import type { WorkerDirectory } from './worker-directory.ts';
import { watchMemory } from './memory-watch.ts';
import {
  isOutcome,
  isReady,
  type TaskOutcome,
  type WorkerTask,
  type TaskFailure,
  type TaskOf,
  type TaskResults,
  type ToWorker,
} from './protocol.ts';

/** Why we ended a worker ourselves. */
export type KillReason = 'hung' | 'took too much memory';

/** The process ended, or was ended for an killReason, before it answered. The task may be tried again elsewhere. */
export class WorkerLost extends Error {
  readonly exit: ProcessExit;
  readonly killReason: KillReason | undefined;

  constructor(exit: ProcessExit, killReason?: KillReason) {
    super(killReason ? `the render worker ${killReason}` : `the render worker ended (${exit.signal ?? exit.code})`);
    this.name = 'WorkerLost';
    this.exit = exit;
    this.killReason = killReason;
  }
}

/** How and where a worker lives. */
export interface WorkerSpec {
  readonly start: StartOptions;
  readonly directory: WorkerDirectory;
  /** More than this, and it is ended. */
  readonly memoryBytes: number;
}

/** Bounds of one attempt at a task. */
export interface TaskLimits {
  /** After this many milliseconds the worker counts as hung. */
  readonly limitMs: number;
}

/** How long a cancelled worker may take to stop by itself before it is killed. */
const CANCEL_GRACE_MS = 100;

interface Pending {
  readonly id: number;
  readonly settle: (outcome: TaskOutcome) => void;
}

export class Worker {
  readonly #process: ManagedProcess;
  /** Resolves with what the worker says about its codecs, if it serves videos. */
  readonly ready: Promise<CodecInfo | undefined>;
  readonly exited: Promise<ProcessExit>;
  readonly #directory: WorkerDirectory;
  readonly #memoryBytes: number;
  #pending: Pending | undefined;
  #killed = false;
  #isReady = false;
  #killReason: KillReason | undefined;
  #nextId = 1;

  constructor({ start, directory, memoryBytes }: WorkerSpec) {
    this.#directory = directory;
    this.#memoryBytes = memoryBytes;
    this.#process = new ManagedProcess(start);
    this.exited = this.#process.exited;
    this.ready = new Promise((resolve, reject) => {
      this.#process.onMessage((message) => this.#receive(message, resolve));
      void this.exited.then((exit) => reject(new WorkerLost(exit)));
    });
  }

  get pid(): number | undefined {
    return this.#process.pid;
  }

  /** Tasks taken so far. */
  get tasks(): number {
    return this.#nextId - 1;
  }

  /** True as soon as its end is decided, before the process is gone. */
  get killed(): boolean {
    return this.#killed;
  }

  /** Why we ended it, if we did. */
  get killReason(): KillReason | undefined {
    return this.#killReason;
  }

  kill(killReason?: KillReason): void {
    this.#killReason ??= killReason;
    this.#killed = true;
    this.#process.kill();
  }

  /** Rejects with `WorkerLost` when the process dies or exceeds its terms; with the signal's reason when cancelled. */
  async run<Type extends WorkerTask['type']>(
    task: TaskOf<Type>,
    terms: TaskLimits,
    signal: AbortSignal,
  ): Promise<TaskResults[Type]> {
    signal.throwIfAborted();
    const id = this.#nextId;
    this.#nextId += 1;
    const stay = await this.#directory.stage(task);
    const stopWatching = this.#watch(terms.limitMs);
    const onAbort = (): void => this.#cancel(id);
    signal.addEventListener('abort', onAbort, { once: true });
    try {
      signal.throwIfAborted();
      const outcome = await this.#ask(id, stay.task);
      signal.throwIfAborted();
      if (outcome.type === 'failed') throw toError(outcome.failure);
      await stay.collect();
      return outcome.result as TaskResults[Type];
    } catch (error) {
      signal.throwIfAborted();
      throw error;
    } finally {
      stopWatching();
      signal.removeEventListener('abort', onAbort);
      this.#pending = undefined;
      // One whose cell cannot be cleared has made something of it that we did not ask for.
      await stay.cleanUp().catch(() => this.kill());
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

  async #ask(id: number, task: WorkerTask): Promise<TaskOutcome> {
    const answered = new Promise<TaskOutcome>((resolve) => {
      this.#pending = { id, settle: resolve };
    });
    this.#send({ type: 'task', id, task });
    const lost = this.exited.then((exit) => {
      throw new WorkerLost(exit, this.#killReason);
    });
    return await Promise.race([answered, lost]);
  }

  /** Asks first: a worker between two steps stops at once and stays warm. One deep inside a decoder is killed. */
  #cancel(id: number): void {
    this.#send({ type: 'cancel', id });
    setTimeout(() => {
      if (this.#pending?.id === id) this.kill();
    }, CANCEL_GRACE_MS);
  }

  #send(message: ToWorker): void {
    if (!this.#process.send(message)) this.kill();
  }

  /** Only what was asked for; a worker that says anything else is not ours any more. */
  #receive(message: unknown, onReady: (codecs: CodecInfo | undefined) => void): void {
    if (isReady(message) && !this.#isReady) {
      this.#isReady = true;
      const pid = this.#process.pid === undefined ? undefined : innermostProcess(this.#process.pid);
      if (pid !== undefined) raiseOomScore(pid);
      onReady(message.codecs);
    } else if (isOutcome(message) && message.id === this.#pending?.id) {
      this.#pending.settle(message);
    } else {
      this.kill();
    }
  }
}

function toError({ code, message, limit }: TaskFailure): Error {
  if (code === undefined) return new Error(`render worker: ${message}`);
  return new AppError(code, message, limit ? { limit } : {});
}
