// Writes the log of API requests in batches, so that no request waits for it. While the database is unavailable,
// entries wait in memory up to a limit, and the oldest ones are dropped first. Refused requests cost nothing, so anyone
// with a key, even a revoked one, can send any number of them. Only a limited number per account and minute is written,
// and the others are counted.

import { AppError } from '../../../shared/errors.ts';
import type { LoggedRequest, RequestLog } from './request-log.ts';

const MAX_WAITING = 10_000;
const BATCH = 500;
/** The maximum per account on each server. */
const REFUSED_PER_MINUTE = 300;

/** Requests of an account that are missing from the log. */
export interface LeftOut {
  readonly accountId: string;
  readonly requests: number;
}

export class RequestLogWriter {
  readonly #log: Pick<RequestLog, 'append'>;
  #waiting: LoggedRequest[] = [];
  #dropped = 0;
  /** Refused requests of the current minute, by account. */
  #refused = new Map<string, number>();
  #minute = '';
  #leftOut: LeftOut[] = [];

  constructor(log: Pick<RequestLog, 'append'>) {
    this.#log = log;
  }

  add(request: LoggedRequest): void {
    if (request.status >= 400 && !this.#mayWriteRefused(request)) return;
    this.#waiting.push(request);
    if (this.#waiting.length <= MAX_WAITING) return;
    this.#waiting.shift();
    this.#dropped += 1;
  }

  /** Returns how many entries were dropped since the last call. */
  takeDropped(): number {
    const dropped = this.#dropped;
    this.#dropped = 0;
    return dropped;
  }

  /** Returns the counts of the minutes that have ended since the last call. */
  takeLeftOut(now = new Date()): LeftOut[] {
    this.#startMinute(minuteOf(now.toISOString()));
    const leftOut = this.#leftOut;
    this.#leftOut = [];
    return leftOut;
  }

  /** Throws when the database is unavailable. The entries stay for the next attempt. */
  async flush(): Promise<void> {
    while (this.#waiting.length > 0) {
      const batch = this.#waiting.slice(0, BATCH);
      await this.#append(batch);
      const written = new Set(batch);
      this.#waiting = this.#waiting.filter((request) => !written.has(request));
    }
  }

  #mayWriteRefused({ accountId, at }: LoggedRequest): boolean {
    this.#startMinute(minuteOf(at));
    const refused = (this.#refused.get(accountId) ?? 0) + 1;
    this.#refused.set(accountId, refused);
    return refused <= REFUSED_PER_MINUTE;
  }

  #startMinute(minute: string): void {
    if (minute === this.#minute) return;
    for (const [accountId, refused] of this.#refused) {
      if (refused > REFUSED_PER_MINUTE) this.#leftOut.push({ accountId, requests: refused - REFUSED_PER_MINUTE });
    }
    this.#refused = new Map();
    this.#minute = minute;
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

function minuteOf(iso: string): string {
  return iso.slice(0, 16);
}
