// The door: how many requests a minute and how many renders at once, by the caller's plan. Held in memory, per process.

import { AppError } from '../errors.ts';
import type { Caller } from './caller.ts';
import { RateBook } from './rate-book.ts';

const MINUTE_MS = 60_000;
export class Admission {
  readonly #rates = new RateBook();
  readonly #running = new Map<string, number>();

  /** Counts the request. Throws when there were too many; the headers are for the answer either way. */
  countRequest({ accountId, plan }: Caller, setHeaders: (headers: Record<string, string>) => void): void {
    const rate = { burst: plan.requestsPerMinute, windowMs: MINUTE_MS };
    const { allowed, remaining, retryAfterMs, fullInMs } = this.#rates.take(accountId, rate);
    setHeaders({
      'ratelimit-policy': `"burst";q=${rate.burst};w=${MINUTE_MS / 1_000}`,
      ratelimit: `"burst";r=${remaining};t=${Math.ceil((allowed ? fullInMs : retryAfterMs) / 1_000)}`,
    });
    if (allowed) return;
    throw new AppError('rate_limited', `The plan allows ${rate.burst} requests a minute.`, {
      retryAfterSeconds: Math.max(1, Math.ceil(retryAfterMs / 1_000)),
    });
  }

  /** Takes one of the account's places; the returned function gives it back, once. */
  enter({ accountId, plan }: Caller): () => void {
    const running = this.#running.get(accountId) ?? 0;
    if (running >= plan.concurrentRenders) {
      const detail = `The plan allows ${plan.concurrentRenders} renders at the same time.`;
      throw new AppError('too_many_renders', detail, { retryAfterSeconds: 1 });
    }
    this.#running.set(accountId, running + 1);
    let inside = true;
    return () => {
      if (!inside) return;
      inside = false;
      const left = (this.#running.get(accountId) ?? 1) - 1;
      if (left > 0) this.#running.set(accountId, left);
      else this.#running.delete(accountId);
    };
  }
}
