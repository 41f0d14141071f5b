import type { IncomingHttpHeaders } from 'node:http';

/**
 * Returns whether the header prefers an asynchronous response. It may name several preferences, each with parameters
 * (RFC 7240).
 */
export function prefersAsync({ prefer = '' }: IncomingHttpHeaders): boolean {
  return /(?:^|,)\s*respond-async\s*(?:[;,]|$)/iu.test(String(prefer));
}
