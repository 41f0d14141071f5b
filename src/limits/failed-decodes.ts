// Limits how many files that can't be decoded an account may send, because they occupy workers and cost nothing. The
// limit per hour is the number of requests per minute that its plan allows. All servers share the count. A server reads
// it only when a decode fails, and remembers accounts that have none left, so other requests cost nothing.

import { AppError } from '../errors.ts';
import { BoundedMap } from '../primitives/bounded-map.ts';
import type { Limits } from '../store/limits.ts';
import { toRetryAfter } from './assert-rate.ts';
import type { Caller } from '../account/caller.ts';

const HOUR_MS = 3_600_000;
const MAX_REMEMBERED = 10_000;

export class FailedDecodes {
  readonly #limits: Pick<Limits, 'take'>;
  readonly #now: () => number;
  /** The time at which the next failure of an account is allowed. */
  readonly #refusedUntil = new BoundedMap<string, number>(MAX_REMEMBERED);

  /** `now` returns milliseconds of a monotonic clock. */
  constructor(limits: Pick<Limits, 'take'>, now: () => number = () => performance.now()) {
    this.#limits = limits;
    this.#now = now;
  }

  /** Counts an error of the renderer if it means that the file can't be decoded. */
  async count({ accountId, plan }: Pick<Caller, 'accountId' | 'plan'>, error: unknown): Promise<void> {
    if (!(error instanceof AppError) || error.code !== 'asset_undecodable') return;
    const rate = { burst: plan.requestsPerMinute, windowMs: HOUR_MS };
    const { remaining, retryAfterMs } = await this.#limits.take(`${accountId} failures`, rate);
    if (remaining > 0) return;
    this.#refusedUntil.set(accountId, this.#now() + Math.max(retryAfterMs, rate.windowMs / rate.burst));
  }

  /** Throws `too_many_failures` when the account has used up its failures. */
  assertFew({ accountId, plan }: Pick<Caller, 'accountId' | 'plan'>): void {
    const waitMs = (this.#refusedUntil.get(accountId) ?? 0) - this.#now();
    if (waitMs <= 0) return;
    const detail = `${plan.requestsPerMinute} of your files per hour couldn't be decoded. Check them before you upload them, and try again after \`retry-after\` seconds.`;
    throw new AppError('too_many_failures', detail, { retryAfterSeconds: toRetryAfter(waitMs) });
  }
}
