import { describe, expect, it } from 'vitest';
import { DEFAULT_PLANS } from '../account/plans.ts';
import { storageError, storageLimitsOf } from './storage-limits.ts';

describe('the storage of the service', () => {
  it('storage is open to new requests up to nine tenths, to those of free plans up to half, and to results until it is full', () => {
    const shareOf = (plan: string, of: 'request' | 'result'): number =>
      storageLimitsOf({ plan: DEFAULT_PLANS.get(plan) }, { serviceBytes: 1_000, of }).serviceBytes;
    expect([shareOf('starter', 'request'), shareOf('free', 'request')]).toEqual([900, 500]);
    expect([shareOf('starter', 'result'), shareOf('free', 'result')]).toEqual([1_000, 1_000]);
  });

  it('the storage of the service refuses with storage_full and a time to retry, without figures of other accounts', () => {
    const limits = storageLimitsOf({ plan: DEFAULT_PLANS.get('free') }, { serviceBytes: 1_000, of: 'request' });
    const error = storageError({ kind: 'over limit', what: 'serviceBytes', actual: 501 }, limits);
    expect(error).toMatchObject({ code: 'storage_full', retryAfterSeconds: 60 });
    expect(error.limit).toBeUndefined();
  });
});
