// The credits of an account in a billing period.

export interface Balance {
  /** Credits charged for delivered renders. */
  readonly used: number;
  /** Credits held for renders in progress. */
  readonly reserved: number;
  /** The plan's credits for the period. */
  readonly limit: number;
}

export function remaining({ used, reserved, limit }: Balance): number {
  return Math.max(0, limit - used - reserved);
}
