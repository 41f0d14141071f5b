// Requests that came to nothing before anything was reserved, counted for the account's chart. In memory first, since a
// refusal must stay cheaper than a disk write; a crash loses the last seconds of a statistic, never money.

import { AppError } from '../../errors.ts';
import type { Usage } from '../../store/store.ts';
import type { Caller } from '../access/caller.ts';

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
    const outcome = outcomeOf(error);
    const name = `${accountId} ${mode} ${outcome}`;
    const known = this.#counts.get(name);
    if (known) known.count += 1;
    else this.#counts.set(name, { accountId, mode, outcome, count: 1 });
  }

  async flush(): Promise<void> {
    const counts = [...this.#counts.values()];
    if (counts.length === 0) return;
    this.#counts.clear();
    await this.#usage.addRefusals(counts);
  }
}

/** How an error is called in an account's history. */
export function outcomeOf(error: unknown): string {
  return error instanceof AppError ? error.code : 'internal_error';
}
