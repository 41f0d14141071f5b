// Renders with a test key are free, so each account has a daily limit.

import { AppError } from '../../shared/errors.ts';

export const TEST_RENDERS_PER_DAY = 500;
const DAY_SECONDS = 86_400;

/** `actual` includes the refused renders. */
export function testRendersExceeded(actual: number): AppError {
  const limit = TEST_RENDERS_PER_DAY;
  const detail = `Test keys of an account can make ${limit} renders per day. Use a live key, or try again tomorrow (UTC).`;
  return new AppError('test_renders_exceeded', detail, {
    limit: { limit, actual },
    // Days begin at midnight UTC.
    retryAfterSeconds: DAY_SECONDS - (Math.floor(Date.now() / 1_000) % DAY_SECONDS),
  });
}
