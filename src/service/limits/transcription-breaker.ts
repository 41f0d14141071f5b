// The circuit breaker of the transcription service, for all accounts and all servers: after five failures in a row, it is left
// alone, and one request per 30 seconds tries whether it works again.

import { AppError } from '../../shared/errors.ts';
import type { Limits } from '../store/limits.ts';
import { toRetryAfter } from './assert-rate.ts';

const NAME = 'transcription failures';
const OPEN_MS = 30_000;
/** With a bucket that refills at this rate, one more failure is allowed when the breaker has been open long enough. */
const RATE = { burst: 5, windowMs: 5 * OPEN_MS };

export class TranscriptionBreaker {
  readonly #limits: Pick<Limits, 'take' | 'giveBack'>;
  readonly #now: () => number;
  /** When the next request may try. Undefined while the breaker is closed. */
  #openUntil: number | undefined;
  /** Failures in a row, of this server. */
  #failures = 0;
  #isTrial = false;

  /** `now` returns milliseconds of a monotonic clock. */
  constructor(limits: Pick<Limits, 'take' | 'giveBack'>, now: () => number = () => performance.now()) {
    this.#limits = limits;
    this.#now = now;
  }

  /** Throws `transcription_failed` while the breaker is open. */
  assertClosed(): void {
    const waitMs = (this.#openUntil ?? 0) - this.#now();
    if (waitMs > 0) throw isOpen(waitMs);
  }

  /** Called before each request to the service. Of those that come when the breaker may close again, one passes. */
  async enter(): Promise<void> {
    this.assertClosed();
    if (this.#openUntil === undefined) return;
    // Other requests are refused from here on, until this one has succeeded or has had its time.
    this.#openUntil = this.#now() + OPEN_MS;
    this.#isTrial = true;
    if (!(await this.#take())) throw isOpen(this.#openUntil - this.#now());
  }

  async countFailure(): Promise<void> {
    // A trial was counted when it started.
    if (!this.#isTrial) await this.#take();
    this.#isTrial = false;
  }

  /** Called when the service has succeeded. */
  async close(): Promise<void> {
    const failures = this.#failures;
    this.#failures = 0;
    this.#openUntil = undefined;
    this.#isTrial = false;
    for (let count = 0; count < failures; count += 1) await this.#limits.giveBack(NAME, RATE);
  }

  async #take(): Promise<boolean> {
    const { allowed, remaining, retryAfterMs } = await this.#limits.take(NAME, RATE);
    if (allowed) this.#failures += 1;
    if (remaining === 0) this.#openUntil = this.#now() + (allowed ? OPEN_MS : retryAfterMs);
    return allowed;
  }
}

function isOpen(waitMs: number): AppError {
  const detail =
    'The transcription service failed several times in a row. Nothing was charged. Try again after `retry-after` seconds.';
  return new AppError('transcription_failed', detail, { retryAfterSeconds: toRetryAfter(waitMs) });
}
