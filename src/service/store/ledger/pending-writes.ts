// Writes that the database did not accept, kept in memory and retried until it does. While this process is alive, no
// other server makes them, because the holds and idempotency keys belong to this process.

import { setImmediate as yieldToEventLoop } from 'node:timers/promises';
import { isUnavailable } from '../engine.ts';

/** A write that failed: the end of a render in the ledger, or the release of its idempotency key. */
export interface PendingWrite {
  readonly kind: 'settle' | 'release' | 'abandon';
  readonly renderId: string;
}

export interface FailedWrite {
  readonly write: PendingWrite;
  readonly error: unknown;
}

/** After this many failures that aren't the database being unavailable, a write is given up. */
const MAX_FAILURES = 10;

interface Entry {
  readonly write: PendingWrite;
  readonly run: () => Promise<unknown>;
  failures: number;
}

export class PendingWrites {
  /** Entries by `keyOf`. The next one to try comes first. */
  readonly #entries = new Map<string, Entry>();

  list(): PendingWrite[] {
    return [...this.#entries.values()].map(({ write }) => write);
  }

  add(write: PendingWrite, run: () => Promise<unknown>): void {
    const key = keyOf(write);
    this.#entries.set(key, { write, run, failures: this.#entries.get(key)?.failures ?? 0 });
  }

  remove(write: PendingWrite): void {
    this.#entries.delete(keyOf(write));
  }

  /** Makes the write now. A failed write is retried later, and its error is still thrown. */
  async run<Result>(write: PendingWrite, run: () => Promise<Result>): Promise<Result> {
    try {
      const result = await run();
      this.remove(write);
      return result;
    } catch (error) {
      this.add(write, run);
      throw error;
    }
  }

  /**
   * Tries each write once, and stops at the first one for which the database is unavailable. Returns the writes that
   * are given up because they failed too often for another reason.
   */
  async retry(): Promise<FailedWrite[]> {
    const givenUp: FailedWrite[] = [];
    // A write that fails is added again, and must not be tried twice in one pass.
    for (const [key, entry] of Array.from(this.#entries)) {
      try {
        await entry.run();
        this.#entries.delete(key);
      } catch (error) {
        if (!isUnavailable(error)) entry.failures += 1;
        // A failed write goes to the end, so that it can't keep the others from being tried.
        this.#entries.delete(key);
        if (entry.failures < MAX_FAILURES) this.#entries.set(key, entry);
        else givenUp.push({ write: entry.write, error });
        if (isUnavailable(error)) break;
      }
      await yieldToEventLoop();
    }
    return givenUp;
  }
}

/** A render has at most one pending write to the ledger and one to its idempotency key. */
function keyOf({ kind, renderId }: PendingWrite): string {
  return `${kind === 'abandon' ? 'idempotency' : 'ledger'} ${renderId}`;
}
