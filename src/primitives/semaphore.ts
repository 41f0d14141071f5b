// Limits how many tasks run at once. Waiting tasks start in the order they arrived.

export interface SemaphoreOptions {
  readonly permits: number;
  /** How many tasks may wait; one more is rejected. Default: no limit. */
  readonly maxWaiting?: number;
}

/** Thrown when the queue of a semaphore is full. */
export class SemaphoreFull extends Error {
  constructor() {
    super('too many tasks are waiting');
    this.name = 'SemaphoreFull';
  }
}

export class Semaphore {
  readonly #maxWaiting: number;
  readonly #waiting: (() => void)[] = [];
  #free: number;

  constructor({ permits, maxWaiting = Number.POSITIVE_INFINITY }: SemaphoreOptions) {
    this.#free = permits;
    this.#maxWaiting = maxWaiting;
  }

  get waiting(): number {
    return this.#waiting.length;
  }

  /** Runs the task when a permit is free. Rejects with `SemaphoreFull`, or with the signal's reason. */
  async run<Result>(task: () => Promise<Result>, signal?: AbortSignal): Promise<Result> {
    await this.#acquire(signal);
    try {
      return await task();
    } finally {
      this.#release();
    }
  }

  async #acquire(signal: AbortSignal | undefined): Promise<void> {
    signal?.throwIfAborted();
    if (this.#free > 0) {
      this.#free -= 1;
      return;
    }
    if (this.#waiting.length >= this.#maxWaiting) throw new SemaphoreFull();
    await new Promise<void>((resolve, reject) => {
      const start = (): void => {
        signal?.removeEventListener('abort', onAbort);
        resolve();
      };
      const onAbort = (): void => {
        this.#waiting.splice(this.#waiting.indexOf(start), 1);
        reject(signal?.reason as Error);
      };
      signal?.addEventListener('abort', onAbort, { once: true });
      this.#waiting.push(start);
    });
  }

  /** Hands the permit to the next waiting task, if there is one. */
  #release(): void {
    const next = this.#waiting.shift();
    if (next) next();
    else this.#free += 1;
  }
}
