// The pauses between the tries to send a file to a `put_url`.

const SECOND_MS = 1_000;
const MINUTE_MS = 60 * SECOND_MS;

/** For a delivery that a request waits for. */
const AWAITED_DELAYS_MS: readonly number[] = [SECOND_MS, 5 * SECOND_MS];
/** Almost an hour together, so that a restart of the receiver doesn't cost the render. */
const DELAYS_MS: readonly number[] = [
  ...AWAITED_DELAYS_MS,
  24 * SECOND_MS,
  MINUTE_MS,
  3 * MINUTE_MS,
  5 * MINUTE_MS,
  10 * MINUTE_MS,
  20 * MINUTE_MS,
  20 * MINUTE_MS,
];

/** `failed` is the number of failed tries. Returns undefined after the last try. */
export function putDelayMs(failed: number, isAwaited: boolean): number | undefined {
  return (isAwaited ? AWAITED_DELAYS_MS : DELAYS_MS)[failed - 1];
}

export const MAX_PUT_DELAY_MS = Math.max(...DELAYS_MS);
