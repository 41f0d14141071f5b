// Checks whether URLs in fields such as `asset_url` are well-formed. The HTTP layer decides whether the server may
// connect to one.

import type { FieldFault } from '../../shared/errors.ts';

export type UrlFault = Pick<FieldFault, 'code' | 'detail'>;

export const MAX_URL_LENGTH = 2_048;
/** Lower ports belong to services that don't serve files, such as mail. */
const LOW_PORTS: ReadonlySet<string> = new Set(['', '80', '443']);
const FIRST_FREE_PORT = 1_024;

export function parseAssetUrl(text: string, base?: URL): URL | UrlFault {
  if (text.trim() === '') return invalid("asset_url can't be empty. Leave it out to send no asset.");
  return parseUrlField('asset_url', text, base);
}

/** `name` is the field, for error messages. */
export function parseUrlField(name: string, text: string, base?: URL): URL | UrlFault {
  if (text.trim() === '') return invalid(`${name} can't be empty.`);
  if (text.length > MAX_URL_LENGTH) return invalid(`${name} can have at most ${MAX_URL_LENGTH} characters.`);
  if (!URL.canParse(text, base?.href)) return invalid(`${name} isn't a valid URL.`);
  const url = new URL(text, base);
  if (url.protocol !== 'http:' && url.protocol !== 'https:') {
    return invalid(`${name} must start with http:// or https://; got ${url.protocol}`);
  }
  if (url.username !== '' || url.password !== '') return invalid(`${name} can't contain a user name or password.`);
  if (!LOW_PORTS.has(url.port) && Number(url.port) < FIRST_FREE_PORT) {
    return invalid(`${name} must have the port 80, 443 or at least ${FIRST_FREE_PORT}; got ${url.port}.`);
  }
  return url;
}

function invalid(detail: string): UrlFault {
  return { code: 'invalid_url', detail };
}
