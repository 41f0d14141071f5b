// Where a caller says that it reached us, for links back.

import type { FastifyRequest } from 'fastify';

/** What may stand in a link; anything else a caller claims to have asked is not repeated. */
const PLAIN_HOST = /^[\w.-]+(?::\d+)?$|^\[[\da-f:.]+\](?::\d+)?$/iu;

export function askedUrl(request: Pick<FastifyRequest, 'headers' | 'protocol'>): string | undefined {
  const host = request.headers.host ?? '';
  return PLAIN_HOST.test(host) ? `${request.protocol}://${host}` : undefined;
}
