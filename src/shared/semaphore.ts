// Limits how many tasks run at once. Waiting tasks start in the order they arrived.

export interface SemaphoreOptions {
  /** How many tasks may run at once, at least 1. A function if the number changes. */
  readonly permits: number | (() => number);
  /** How many tasks may wait. One more is rejected. Default: no limit. */
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
  readonly #permits: () => number;
  readonly #maxWaiting: number;
  readonly #waiting: (() => void)[] = [];
  #running = 0;

  constructor({ permits, maxWaiting = Number.POSITIVE_INFINITY }: SemaphoreOptions) {
    this.#permits = typeof permits === 'number' ? () => permits : permits;
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
      this.#running -= 1;
      this.#startWaiting();
    }
  }

  async #acquire(signal: AbortSignal | undefined): Promise<void> {
    signal?.throwIfAborted();
    this.#startWaiting();
    if (this.#running < this.#permits()) {
      this.#running += 1;
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

  #startWaiting(): void {
    while (this.#waiting.length > 0 && this.#running < this.#permits()) {
      this.#running += 1;
      this.#waiting.shift()?.();
    }
  }
}
