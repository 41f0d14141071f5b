// Which web pages may read our answers. A key lists the origins it may be used from; nobody else's page gets to see
// anything. Programs that are no browser do not come through here: they send no `origin`.

import type { FastifyReply, FastifyRequest } from 'fastify';
import { AppError } from '../../errors.ts';

const ALLOWED_HEADERS = 'x-api-key, idempotency-key, content-type, traceparent, tracestate';
/** What a page may read beyond what every page may. */
const EXPOSED_HEADERS = [
  'content-disposition',
  'content-length',
  'idempotency-replayed',
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
  'x-source-type',
].join(', ');
/** As long as browsers remember at most. */
const REMEMBER_SECONDS = 7_200;

/** A browser asking, before it sends the request of a page from elsewhere, whether that would be welcome. */
export function isPreflight({ method, headers }: FastifyRequest): boolean {
  return method === 'OPTIONS' && headers.origin !== undefined && 'access-control-request-method' in headers;
}

/** It comes without the key, so it says nothing about one: yes to everybody, and the request itself is judged. */
export function answerPreflight(reply: FastifyReply): FastifyReply {
  return reply.code(204).headers({
    'access-control-allow-origin': '*',
    'access-control-allow-methods': 'POST',
    'access-control-allow-headers': ALLOWED_HEADERS,
    'access-control-max-age': String(REMEMBER_SECONDS),
  });
}

/** Once the key is known: refuses a page that may not use it, and lets one that may read the answer, good or bad. */
export function judgeOrigin(
  allowedOrigins: readonly string[],
  origin: string | undefined,
  setHeaders: (headers: Record<string, string>) => void,
): void {
  if (origin === undefined || allowedOrigins.length === 0) return;
  if (!allowedOrigins.includes(origin)) {
    throw new AppError('origin_not_allowed', 'This API key may not be used from pages of this origin.');
  }
  setHeaders({ 'access-control-allow-origin': origin, 'access-control-expose-headers': EXPOSED_HEADERS });
}
