// Access to the details that are meant for operators: metrics, versions, workers and the sandbox level.

import { createHash, timingSafeEqual } from 'node:crypto';
import type { IncomingMessage } from 'node:http';

const FORWARDING_HEADERS = [
  'forwarded',
  'via',
  'x-forwarded-for',
  'x-forwarded-host',
  'x-forwarded-proto',
  'x-real-ip',
];
const LOOPBACK = /^(?:::ffff:)?127\.|^::1$/u;

/** Compares digests, so the time it takes reveals nothing about the token. */
export function hasMetricsToken({ headers }: Pick<IncomingMessage, 'headers'>, token: string): boolean {
  const digest = (text: string): Buffer => createHash('sha256').update(text).digest();
  return token !== '' && timingSafeEqual(digest(headers.authorization ?? ''), digest(`Bearer ${token}`));
}

/** Without a token, only this machine may read metrics. A request that a proxy on this machine forwards isn't local. */
export function mayReadMetrics(request: IncomingMessage, token: string): boolean {
  if (token !== '') return hasMetricsToken(request, token);
  const isForwarded = FORWARDING_HEADERS.some((name) => request.headers[name] !== undefined);
  return !isForwarded && LOOPBACK.test(request.socket.remoteAddress ?? '');
}
