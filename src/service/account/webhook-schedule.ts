// The retry schedule of webhooks that could not be delivered.

const SECOND_MS = 1_000;
const MINUTE_MS = 60 * SECOND_MS;
const HOUR_MS = 60 * MINUTE_MS;

const RETRY_DELAYS_MS: readonly number[] = [
  5 * SECOND_MS,
  5 * MINUTE_MS,
  30 * MINUTE_MS,
  2 * HOUR_MS,
  5 * HOUR_MS,
  10 * HOUR_MS,
];

/** `failed` is the number of failed attempts. Returns undefined after the last attempt. */
export function retryDelayMs(failed: number): number | undefined {
  return RETRY_DELAYS_MS[failed - 1];
}

/** No pause and no lease ends later, so a time further ahead comes from a clock that was wrong. */
export const MAX_AHEAD_MS = Math.max(...RETRY_DELAYS_MS) + HOUR_MS;

/** An endpoint that accepts nothing for this long is disabled when the next delivery is given up. */
export const MAX_FAILING_MS = 5 * 24 * HOUR_MS;
