// Limits how many files an account may send that can't be decoded, or that use up the time or the memory of a worker,
// because they occupy workers and cost nothing. The limit per hour is the number of requests per minute that its plan
// allows.

import type { ErrorCode } from '../../shared/error-table.ts';
import { AppError } from '../../shared/errors.ts';
import type { Limits } from '../store/limits.ts';
import { toRetryAfter } from './assert-rate.ts';
import type { Caller } from '../account/caller.ts';
import { Failures } from './failures.ts';

const HOUR_MS = 3_600_000;
const COUNTED_CODES: ReadonlySet<ErrorCode> = new Set(['asset_undecodable', 'out_of_memory']);

export class FailedDecodes {
  readonly #failures: Failures;

  /** `now` returns milliseconds of a monotonic clock. */
  constructor(limits: Pick<Limits, 'take'>, now?: () => number) {
    this.#failures = new Failures(limits, 'failures', now);
  }

  /** Counts an error of the renderer if the file or its captions are the reason. */
  async count({ accountId, plan }: Pick<Caller, 'accountId' | 'plan'>, error: unknown): Promise<void> {
    if (!(error instanceof AppError) || !(COUNTED_CODES.has(error.code) || error.usedUpTime)) return;
    await this.#failures.count(accountId, { burst: plan.requestsPerMinute, windowMs: HOUR_MS });
  }

  /** Throws `too_many_failures` when the account has used up its failures. */
  assertFew({ accountId, plan }: Pick<Caller, 'accountId' | 'plan'>): void {
    const waitMs = this.#failures.waitMs(accountId);
    if (waitMs <= 0) return;
    const detail = `${plan.requestsPerMinute} of your renders per hour failed because a file couldn't be decoded or a worker ran out of time or memory. Check your files, and try again after \`retry-after\` seconds.`;
    throw new AppError('too_many_failures', detail, { retryAfterSeconds: toRetryAfter(waitMs) });
  }
}
