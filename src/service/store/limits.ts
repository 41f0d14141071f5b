import type { Rate, RateVerdict } from '../account/gcra.ts';

/** Rate limits and limits of concurrent renders, across all servers. */
export interface Limits {
  /** `count` is how many requests this one counts as, 1 by default. */
  take(name: string, rate: Rate, count?: number): Promise<RateVerdict & { readonly fullInMs: number }>;
  /** Undoes a `take` of one request that was allowed. */
  giveBack(name: string, rate: Rate): Promise<void>;
  /** Takes one of the account's slots. Returns the function that frees it, or undefined when all are taken. */
  enter(account: string, maxRunning: number): Promise<(() => void) | undefined>;
  /** Deletes rows that no longer have an effect. */
  forget(): Promise<void>;
}
