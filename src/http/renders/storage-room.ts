// The limits of what an account has stored, for results. The limits of accepted requests are in accept.ts.

import { AppError } from '../../errors.ts';
import type { OverStorage, Renders, StorageLimits } from '../../store/renders/renders.ts';
import type { Caller } from '../access/caller.ts';

/** Renders with a test key are free, so each account has only so many a day. */
const TEST_RENDERS_PER_DAY = 500;
const RETRY_AFTER_SECONDS = 2;
const RETRY_TEST_AFTER_SECONDS = 3_600;

export function storageLimitsOf({ plan }: Pick<Caller, 'plan'>): StorageLimits {
  return { storedBytes: plan.limits.storedBytes, testRendersPerDay: TEST_RENDERS_PER_DAY };
}

/** Throws when the account has no room for a result of this size. `renders` is 0 for a render that was accepted before. */
export async function assertStorageRoom(
  renders: Pick<Renders, 'storageExceeded'>,
  caller: Caller,
  demand: { readonly renders: 0 | 1; readonly bytes: number },
): Promise<void> {
  const { accountId, mode } = caller;
  const exceeded = await renders.storageExceeded({ accountId, mode, ...demand }, storageLimitsOf(caller));
  if (exceeded) throw storageError(exceeded, storageLimitsOf(caller));
}

export function storageError({ what, actual }: OverStorage, limits: StorageLimits): AppError {
  const limit = limits[what];
  if (what === 'storedBytes') {
    const detail = `Your plan allows ${limit} stored bytes; this render would make it ${actual}.`;
    return new AppError('stored_bytes_exceeded', detail, {
      limit: { limit, actual },
      retryAfterSeconds: RETRY_AFTER_SECONDS,
    });
  }
  const detail = `Test keys of an account can store ${limit} renders per day.`;
  return new AppError('test_renders_exceeded', detail, {
    limit: { limit, actual },
    retryAfterSeconds: RETRY_TEST_AFTER_SECONDS,
  });
}
