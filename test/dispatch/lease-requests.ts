import type { LeaseRequest } from '../../src/dispatch/renderer.ts';

const FOREVER = { image: Number.POSITIVE_INFINITY, video: Number.POSITIVE_INFINITY };

/** A lease for a test to which it doesn't matter who waits, and for how long. */
export function anyone(signal = new AbortController().signal): LeaseRequest {
  return { account: 'account', class: 'interactive', budgetMs: FOREVER, signal };
}
