import type { LeaseRequest } from '../../src/service/dispatch/renderer.ts';

const FOREVER = { image: Number.POSITIVE_INFINITY, video: Number.POSITIVE_INFINITY };

/** A lease for a test that doesn't depend on the caller or the deadline. */
export function anyone(signal = new AbortController().signal): LeaseRequest {
  return { account: 'account', class: 'interactive', budgetMs: FOREVER, signal };
}
