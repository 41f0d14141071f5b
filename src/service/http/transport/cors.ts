// CORS: controls which web pages may read the API's responses. A key lists the origins it may be used from, and only
// pages from these origins can read a response. Clients other than browsers send no `origin` and aren't affected.

import type { FastifyReply, FastifyRequest } from 'fastify';
import { AppError } from '../../../shared/errors.ts';

const ALLOWED_HEADERS =
  'x-api-key, authorization, idempotency-key, content-type, prefer, range, traceparent, tracestate';
/** Response headers that a page may read in addition to those CORS always exposes. */
const EXPOSED_HEADERS = [
  'content-disposition',
  'content-length',
  'idempotency-replayed',
  'location',
  'preference-applied',
  'ratelimit',
  'ratelimit-policy',
  'retry-after',
  'server-timing',
  'traceparent',
  'x-credits-charged',
  'x-credits-remaining',
  'x-missing-glyphs',
  'x-render-duration-ms',
  'x-render-id',
  'x-request-id',
  'x-source-pixels',
  'x-source-type',
  'x-uncertain-words',
  'x-warnings',
].join(', ');
/** The longest time that browsers cache a preflight response. */
const MAX_AGE_SECONDS = 7_200;

export function isPreflight({ method, headers }: FastifyRequest): boolean {
  return method === 'OPTIONS' && headers.origin !== undefined && 'access-control-request-method' in headers;
}

/**
 * Allows every origin, because a preflight carries no key and the origin can only be checked with the request itself.
 */
export function respondToPreflight(reply: FastifyReply): FastifyReply {
  return reply
    .code(204)
    .headers({
      'access-control-allow-origin': '*',
      'access-control-allow-methods': 'GET, POST, DELETE',
      'access-control-allow-headers': ALLOWED_HEADERS,
      'access-control-max-age': String(MAX_AGE_SECONDS),
    })
    .send();
}

/** Rejects a page from an origin that the key doesn't list. A page from a listed origin may read the response, even an error. */
export function checkOrigin(
  allowedOrigins: readonly string[],
  origin: string | undefined,
  setHeaders: (headers: Record<string, string>) => void,
): void {
  if (origin === undefined || allowedOrigins.length === 0) return;
  if (!allowedOrigins.includes(origin)) {
    throw new AppError('origin_not_allowed', "This API key isn't allowed from this origin.");
  }
  setHeaders({ 'access-control-allow-origin': origin, 'access-control-expose-headers': EXPOSED_HEADERS });
}
