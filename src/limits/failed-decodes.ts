// Limits how many files that can't be decoded an account may send, because they occupy workers and cost nothing. The
// limit per hour is the number of requests per minute that its plan allows.

import { AppError } from '../errors.ts';
import type { Limits } from '../store/limits.ts';
import { toRetryAfter } from './assert-rate.ts';
import type { Caller } from '../account/caller.ts';
import { Failures } from './failures.ts';

const HOUR_MS = 3_600_000;

export class FailedDecodes {
  readonly #failures: Failures;

  /** `now` returns milliseconds of a monotonic clock. */
  constructor(limits: Pick<Limits, 'take'>, now?: () => number) {
    this.#failures = new Failures(limits, 'failures', now);
  }

  /** Counts an error of the renderer if it means that the file can't be decoded. */
  async count({ accountId, plan }: Pick<Caller, 'accountId' | 'plan'>, error: unknown): Promise<void> {
    if (!(error instanceof AppError) || error.code !== 'asset_undecodable') return;
    await this.#failures.count(accountId, { burst: plan.requestsPerMinute, windowMs: HOUR_MS });
  }

  /** Throws `too_many_failures` when the account has used up its failures. */
  assertFew({ accountId, plan }: Pick<Caller, 'accountId' | 'plan'>): void {
    const waitMs = this.#failures.waitMs(accountId);
    if (waitMs <= 0) return;
    const detail = `${plan.requestsPerMinute} of your files per hour couldn't be decoded. Check them before you upload them, and try again after \`retry-after\` seconds.`;
    throw new AppError('too_many_failures', detail, { retryAfterSeconds: toRetryAfter(waitMs) });
  }
}
