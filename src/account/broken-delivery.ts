// Deliveries that break because the client leaves or reads too slowly. They are free, so that a bad connection costs
// nothing. An account that keeps breaking deliveries after it has nearly all of the file is charged for them.

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

const ALMOST_ALL_PERCENT = 95;
const FREE_PER_PERIOD = 20;
const FREE_SHARE_OF_RENDERS = 0.02;

/** The part of a file that is worth as much as the whole file, in bytes. */
export function almostAllOf(bytes: number): number {
  return Math.ceil((bytes * ALMOST_ALL_PERCENT) / 100);
}

/** The number of broken deliveries that are free in the period, however many bytes were sent. */
export function allowedBroken({ delivered }: Pick<DeliveryCounts, 'delivered'>): number {
  return FREE_PER_PERIOD + Math.floor(delivered * FREE_SHARE_OF_RENDERS);
}

/** Whether another broken delivery is charged. `counts` doesn't include it yet. */
export function isBrokenCharged(hasAlmostAll: boolean, counts: DeliveryCounts): boolean {
  return hasAlmostAll && counts.brokenFree >= allowedBroken(counts);
}
