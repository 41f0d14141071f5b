// Enforces the plan's limits on requests per minute, concurrent renders and files that can't be decoded.

import { AppError } from '../../../shared/errors.ts';
import type { Limits } from '../../store/limits.ts';
import type { Caller } from '../../account/caller.ts';
import { toRetryAfter } from '../../limits/assert-rate.ts';
import type { FailedDecodes } from '../../limits/failed-decodes.ts';

const MINUTE_MS = 60_000;
/** How many requests that render nothing an account may send for each one that renders. */
const READS_PER_RENDER = 10;

export class Admission {
  readonly #limits: Limits;
  readonly #failedDecodes: FailedDecodes;
  #inside = 0;

  constructor(limits: Limits, failedDecodes: FailedDecodes) {
    this.#limits = limits;
    this.#failedDecodes = failedDecodes;
  }

  /** Returns the number of admitted requests of all accounts that are still running. */
  get inside(): number {
    return this.#inside;
  }

  /**
   * Counts the request, and throws when the account exceeds its rate or has sent too many files that can't be decoded. Sets
   * the rate limit headers in any case.
   */
  async countRequest(caller: Caller, setHeaders: (headers: Record<string, string>) => void): Promise<void> {
    await this.#count(caller.accountId, caller.plan.requestsPerMinute, setHeaders);
    this.#failedDecodes.assertFew(caller);
  }

  /**
   * Like `countRequest`, for requests that render nothing, which have a larger limit of their own. A large one counts
   * as several.
   */
  async countFreeRequest(
    { accountId, plan }: Caller,
    setHeaders: (headers: Record<string, string>) => void,
    count?: number,
  ): Promise<void> {
    await this.#count(`${accountId} reads`, plan.requestsPerMinute * READS_PER_RENDER, setHeaders, count);
  }

  async #count(
    name: string,
    burst: number,
    setHeaders: (headers: Record<string, string>) => void,
    count?: number,
  ): Promise<void> {
    const rate = { burst, windowMs: MINUTE_MS };
    const { allowed, remaining, retryAfterMs, fullInMs } = await this.#limits.take(name, rate, count);
    setHeaders({
      'ratelimit-policy': `"burst";q=${rate.burst};w=${MINUTE_MS / 1_000}`,
      ratelimit: `"burst";r=${remaining};t=${Math.ceil((allowed ? fullInMs : retryAfterMs) / 1_000)}`,
    });
    if (allowed) return;
    throw new AppError(
      'rate_limited',
      `Your plan allows ${rate.burst} requests per minute. Try again after \`retry-after\` seconds.`,
      {
        retryAfterSeconds: toRetryAfter(retryAfterMs),
      },
    );
  }

  /** Takes one of the account's render slots. The returned function releases it. Calling it again does nothing. */
  async enter({ accountId, plan }: Caller): Promise<() => void> {
    const leave = await this.#limits.enter(accountId, plan.concurrentRenders);
    if (leave !== undefined) return this.#counted(leave);
    const detail = `You've reached your plan's limit of ${plan.concurrentRenders} concurrent renders. Wait for one to finish.`;
    throw new AppError('too_many_renders', detail, { retryAfterSeconds: 1 });
  }

  /** Takes one of the account's places for uploads of asynchronous renders, which take no render slot. */
  async enterUpload({ accountId, plan }: Caller): Promise<() => void> {
    const leave = await this.#limits.enter(`${accountId} uploads`, plan.concurrentRenders);
    if (leave !== undefined) return this.#counted(leave);
    const detail = `You're uploading ${plan.concurrentRenders} files already. Wait for one of them to be accepted.`;
    throw new AppError('too_many_queued', detail, { retryAfterSeconds: 1 });
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
