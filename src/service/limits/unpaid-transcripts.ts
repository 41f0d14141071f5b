// Limits how many transcriptions of an account may lead to nothing that is paid for, because each costs the operator money. A
// transcription counts from when the sound is sent, and no longer when its render is charged or the service failed. What
// remains are videos without speech, renders that fail, are canceled or aren't delivered, and repeated requests that are free.

import { EventEmitter, once } from 'node:events';
import type { Caller } from '../account/caller.ts';
import { AppError } from '../../shared/errors.ts';
import { BoundedMap } from '../../shared/bounded-map.ts';
import type { Limits } from '../store/limits.ts';
import { toRetryAfter } from './assert-rate.ts';

const RATE = { burst: 20, windowMs: 86_400_000 };
/** How long a refusal is remembered, so that the account's next requests cost nothing. Another server may give some back. */
const REMEMBERED_MS = 10_000;
const MAX_REMEMBERED = 10_000;

type Account = Pick<Caller, 'accountId'>;

export class UnpaidTranscripts {
  readonly #limits: Pick<Limits, 'take' | 'giveBack'>;
  readonly #onError: (error: unknown, accountId: string) => void;
  readonly #refused = new BoundedMap<string, { readonly at: number; readonly retryAfterMs: number }>(MAX_REMEMBERED);
  /** Renders of this server that have a transcription and aren't over, by account. */
  readonly #running = new Map<string, Set<string>>();
  readonly #ends = new EventEmitter().setMaxListeners(0);

  /** `onError` is called when a transcription couldn't be given back. */
  constructor(limits: Pick<Limits, 'take' | 'giveBack'>, onError: (error: unknown, accountId: string) => void) {
    this.#limits = limits;
    this.#onError = onError;
  }

  /**
   * Called before the sound is sent. If others of the account may still be paid for, it waits for them. Throws
   * `too_many_failures` when the account has used up its transcriptions, or the reason of the signal.
   */
  async take({ accountId }: Account, renderId: string, signal: AbortSignal): Promise<void> {
    for (;;) {
      const { allowed, retryAfterMs } = await this.#limits.take(nameOf(accountId), RATE);
      if (allowed) break;
      if (!this.#running.has(accountId)) {
        this.#refused.set(accountId, { at: performance.now(), retryAfterMs });
        throw tooMany(retryAfterMs);
      }
      await once(this.#ends, nameOf(accountId), { signal }).catch(() => signal.throwIfAborted());
    }
    const renders = this.#running.get(accountId) ?? new Set();
    this.#running.set(accountId, renders.add(renderId));
  }

  /** Called when the render is over. If it was paid for, its transcription doesn't count. Never rejects. */
  async end({ accountId }: Account, renderId: string, isPaid: boolean): Promise<void> {
    try {
      if (isPaid) await this.#limits.giveBack(nameOf(accountId), RATE);
    } catch (error) {
      this.#onError(error, accountId);
    }
    const renders = this.#running.get(accountId);
    renders?.delete(renderId);
    if (renders?.size === 0) this.#running.delete(accountId);
    this.#ends.emit(nameOf(accountId));
  }

  /** Throws `too_many_failures` if the account was refused a moment ago. */
  assertFew({ accountId }: Account): void {
    const refused = this.#refused.get(accountId);
    if (refused === undefined) return;
    const ageMs = performance.now() - refused.at;
    if (ageMs < REMEMBERED_MS) throw tooMany(refused.retryAfterMs - ageMs);
  }
}

function nameOf(accountId: string): string {
  return `${accountId} transcripts`;
}

function tooMany(waitMs: number): AppError {
  const detail = `${RATE.burst} transcriptions of your account per day led to no render. Check your videos, and try again after \`retry-after\` seconds.`;
  return new AppError('too_many_failures', detail, { retryAfterSeconds: toRetryAfter(waitMs) });
}
