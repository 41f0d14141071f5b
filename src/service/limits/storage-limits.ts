// The storage limits of an account and of the service. The limits of accepted requests are in accept.ts.

import { AppError } from '../../shared/errors.ts';
import type { OverStorage, StorageLimits } from '../store/renders/render.ts';
import type { Caller } from '../account/caller.ts';

const RETRY_AFTER_SECONDS = 2;
const RETRY_SERVICE_AFTER_SECONDS = 60;

/**
 * The shares of the service's storage that may be in use when something is added. The rest is for results of requests
 * that were accepted before. Plans without a price get less, so that free accounts can't use up what others pay for.
 */
const SHARES = { request: 0.9, freeRequest: 0.5, result: 1 } as const;

/** The storage of the service, and the addition to it: a new request, or the result of one that was accepted. */
export interface StorageUse {
  readonly serviceBytes: number;
  readonly of: 'request' | 'result';
}

export function storageLimitsOf({ plan }: Pick<Caller, 'plan'>, { serviceBytes, of }: StorageUse): StorageLimits {
  const share = SHARES[of === 'request' && plan.monthlyPriceCents === 0 ? 'freeRequest' : of];
  return { storedBytes: plan.limits.storedBytes, serviceBytes: Math.floor(serviceBytes * share) };
}

export function storageError({ what, actual }: OverStorage, limits: StorageLimits): AppError {
  const limit = limits[what];
  if (what === 'serviceBytes') {
    const detail =
      "This service has no room for more stored files right now. Try again later, or don't use async and deliver.";
    return new AppError('storage_full', detail, { retryAfterSeconds: RETRY_SERVICE_AFTER_SECONDS });
  }
  const detail = `Your plan allows ${limit} stored bytes; this file would make it ${actual}.`;
  return new AppError('stored_bytes_exceeded', detail, {
    limit: { limit, actual },
    retryAfterSeconds: RETRY_AFTER_SECONDS,
  });
}
