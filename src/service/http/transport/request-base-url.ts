// The base URL a client used to reach the server, for links in responses.

import type { FastifyRequest } from 'fastify';

/** A `host` header can contain anything. Only a plain host name or address is safe to repeat in a link. */
const PLAIN_HOST = /^[\w.-]+(?::\d+)?$|^\[[\da-f:.]+\](?::\d+)?$/iu;

export function requestBaseUrl(request: Pick<FastifyRequest, 'headers' | 'protocol'>): string | undefined {
  const host = request.headers.host ?? '';
  const base = `${request.protocol}://${host}`;
  // Hosts such as `x:99999` look plain but aren't valid in a URL.
  return PLAIN_HOST.test(host) && URL.canParse(base) ? base : undefined;
}
