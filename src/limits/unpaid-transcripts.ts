// Limits how many transcriptions of an account may lead to nothing that is paid for, because each costs the operator money: a
// video without speech, a render that fails or is canceled afterwards, and a repeated request that is free.

import type { Caller } from '../account/caller.ts';
import { AppError } from '../errors.ts';
import type { Limits } from '../store/limits.ts';
import { toRetryAfter } from './assert-rate.ts';
import { Failures } from './failures.ts';

const RATE = { burst: 20, windowMs: 86_400_000 };

export class UnpaidTranscripts {
  readonly #failures: Failures;

  constructor(limits: Pick<Limits, 'take'>) {
    this.#failures = new Failures(limits, 'transcripts');
  }

  async count({ accountId }: Pick<Caller, 'accountId'>): Promise<void> {
    await this.#failures.count(accountId, RATE);
  }

  /** Throws `too_many_failures` when the account has used up its free transcriptions. */
  assertFew({ accountId }: Pick<Caller, 'accountId'>): void {
    const waitMs = this.#failures.waitMs(accountId);
    if (waitMs <= 0) return;
    const detail = `${RATE.burst} transcriptions of your account per day led to no render. Check your videos, and try again after \`retry-after\` seconds.`;
    throw new AppError('too_many_failures', detail, { retryAfterSeconds: toRetryAfter(waitMs) });
  }
}
