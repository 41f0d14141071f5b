// Credits: what a render costs, and the account's balance in a period.

import type { KeyMode } from './api-key.ts';

export interface Balance {
  /** Charged for delivered renders. */
  readonly used: number;
  /** Held for renders that are under way. */
  readonly reserved: number;
  /** What the plan gives for the period. */
  readonly limit: number;
}

export function remaining({ used, reserved, limit }: Balance): number {
  return Math.max(0, limit - used - reserved);
}

/** A test key costs nothing, whatever it renders. */
export function priceOf(mode: KeyMode, credits: number): number {
  return mode === 'test' ? 0 : credits;
}
