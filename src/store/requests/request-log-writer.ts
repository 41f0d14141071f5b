// Writes the log of API requests in batches, so that no request waits for it. When the database is away, entries wait in memory
// up to a limit; the oldest ones are dropped first.

import { AppError } from '../../errors.ts';
import type { LoggedRequest, RequestLog } from './request-log.ts';

const MAX_WAITING = 10_000;
const BATCH = 500;

export class RequestLogWriter {
  readonly #log: Pick<RequestLog, 'append'>;
  #waiting: LoggedRequest[] = [];
  #dropped = 0;

  constructor(log: Pick<RequestLog, 'append'>) {
    this.#log = log;
  }

  add(request: LoggedRequest): void {
    this.#waiting.push(request);
    if (this.#waiting.length <= MAX_WAITING) return;
    this.#waiting.shift();
    this.#dropped += 1;
  }

  /** How many entries were dropped since the last call. */
  takeDropped(): number {
    const dropped = this.#dropped;
    this.#dropped = 0;
    return dropped;
  }

  /** Throws when the database is away; the entries stay for the next attempt. */
  async flush(): Promise<void> {
    while (this.#waiting.length > 0) {
      const batch = this.#waiting.slice(0, BATCH);
      await this.#append(batch);
      const written = new Set(batch);
      this.#waiting = this.#waiting.filter((request) => !written.has(request));
    }
  }

  /** An entry that the database refuses is dropped, so that it doesn't hold up the others. */
  async #append(batch: readonly LoggedRequest[]): Promise<void> {
    try {
      await this.#log.append(batch);
    } catch (error) {
      if (error instanceof AppError && error.code === 'storage_unavailable') throw error;
      if (batch.length === 1) this.#dropped += 1;
      else for (const request of batch) await this.#append([request]);
    }
  }
}
