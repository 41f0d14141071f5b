// The entry point: how many requests a minute and how many renders at once, by the caller's plan.

import { AppError } from '../../errors.ts';
import type { Limits } from '../../store/store.ts';
import type { Caller } from '../access/caller.ts';

const MINUTE_MS = 60_000;

export class Admission {
  readonly #limits: Limits;
  #inside = 0;

  constructor(limits: Limits) {
    this.#limits = limits;
  }

  /** Requests inside here, of all accounts. */
  get inside(): number {
    return this.#inside;
  }

  /** Counts the request. Throws when there were too many; the headers are for the answer either way. */
  async countRequest(
    { accountId, plan }: Caller,
    setHeaders: (headers: Record<string, string>) => void,
  ): Promise<void> {
    const rate = { burst: plan.requestsPerMinute, windowMs: MINUTE_MS };
    const { allowed, remaining, retryAfterMs, fullInMs } = await this.#limits.take(accountId, rate);
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
  async enter({ accountId, plan }: Caller): Promise<() => void> {
    const leave = await this.#limits.enter(accountId, plan.concurrentRenders);
    if (leave !== undefined) return this.#counted(leave);
    const detail = `The plan allows ${plan.concurrentRenders} renders at the same time.`;
    throw new AppError('too_many_renders', detail, { retryAfterSeconds: 1 });
  }

  #counted(leave: () => void): () => void {
    this.#inside += 1;
    let inside = true;
    return () => {
      if (inside) this.#inside -= 1;
      inside = false;
      leave();
    };
  }
}
