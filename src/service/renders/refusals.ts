// Counts requests that failed before credits were reserved, for the account's usage chart. Counts are kept in memory and
// flushed regularly because a refusal must stay cheaper than a disk write. A crash loses seconds of statistics, never money.

import { AppError } from '../../shared/errors.ts';
import type { Usage } from '../store/ledger/usage.ts';
import type { Caller } from '../account/caller.ts';

interface Count {
  readonly accountId: string;
  readonly mode: Caller['mode'];
  readonly outcome: string;
  count: number;
}

export class Refusals {
  readonly #usage: Pick<Usage, 'addRefusals'>;
  readonly #counts = new Map<string, Count>();

  constructor(usage: Pick<Usage, 'addRefusals'>) {
    this.#usage = usage;
  }

  add({ accountId, mode }: Caller, error: unknown): void {
    this.#add({ accountId, mode, outcome: outcomeOf(error), count: 1 });
  }

  async flush(): Promise<void> {
    const counts = [...this.#counts.values()];
    if (counts.length === 0) return;
    this.#counts.clear();
    try {
      await this.#usage.addRefusals(counts);
    } catch (error) {
      // These counts are kept for the next flush.
      for (const count of counts) this.#add(count);
      throw error;
    }
  }

  #add(count: Count): void {
    const name = `${count.accountId} ${count.mode} ${count.outcome}`;
    const entry = this.#counts.get(name);
    if (entry) entry.count += count.count;
    else this.#counts.set(name, count);
  }
}

/** Returns the name of an error in an account's usage history. */
export function outcomeOf(error: unknown): string {
  return error instanceof AppError ? error.code : 'internal_error';
}
