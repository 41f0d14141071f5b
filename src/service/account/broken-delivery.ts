// Deliveries that break because the client leaves or reads too slowly. They are free within an allowance, so that a bad
// connection costs nothing. The number of sent bytes doesn't matter, because the client may need any part of the file.

/** The deliveries of an account in a billing period. Only renders that cost credits count. */
export interface DeliveryCounts {
  readonly delivered: number;
  /** Broken deliveries that were free. */
  readonly brokenFree: number;
  /** Broken deliveries that were charged. */
  readonly brokenCharged: number;
}

/** The outcomes of a delivery that broke, in the account's history. */
export const BROKEN_FREE = 'delivery_broken';
export const BROKEN_CHARGED = 'aborted';

export const NO_DELIVERIES: DeliveryCounts = { delivered: 0, brokenFree: 0, brokenCharged: 0 };

const FREE_PER_PERIOD = 20;
const FREE_SHARE_OF_RENDERS = 0.02;

/** Returns the number of broken deliveries that are free in the period. */
export function allowedBroken({ delivered }: Pick<DeliveryCounts, 'delivered'>): number {
  return FREE_PER_PERIOD + Math.floor(delivered * FREE_SHARE_OF_RENDERS);
}

/** Returns true when another broken delivery is charged. `counts` doesn't include it yet. */
export function isBrokenCharged(counts: DeliveryCounts): boolean {
  return counts.brokenFree >= allowedBroken(counts);
}
