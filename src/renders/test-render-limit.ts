// Renders with a test key are free, so each account has only so many a day.

import { AppError } from '../errors.ts';

export const TEST_RENDERS_PER_DAY = 500;
const RETRY_AFTER_SECONDS = 3_600;

/** `actual`: including the refused renders. */
export function testRendersExceeded(actual: number): AppError {
  const limit = TEST_RENDERS_PER_DAY;
  const detail = `Test keys of an account can make ${limit} renders per day. Use a live key, or try again tomorrow (UTC).`;
  return new AppError('test_renders_exceeded', detail, {
    limit: { limit, actual },
    retryAfterSeconds: RETRY_AFTER_SECONDS,
  });
}
