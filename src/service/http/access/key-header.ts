import type { IncomingHttpHeaders } from 'node:http';

/** Returns the API key of a request. `authorization: Bearer` counts only without `x-api-key`. */
export function keyOf({ 'x-api-key': key, authorization }: IncomingHttpHeaders): string | undefined {
  if (key !== undefined) return Array.isArray(key) ? key.join(', ') : key;
  return /^Bearer +(?<token>.*)$/iu.exec(authorization ?? '')?.groups?.['token']?.trim();
}
