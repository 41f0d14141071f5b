// The `asset_url` field: which URLs are well-formed. Whether the server may fetch one is decided in the HTTP layer.

import type { FieldFault } from '../errors.ts';

export type UrlFault = Pick<FieldFault, 'code' | 'detail'>;

const MAX_URL_LENGTH = 2_048;
/** Lower ports belong to services that don't serve files, such as mail. */
const LOW_PORTS: ReadonlySet<string> = new Set(['', '80', '443']);
const FIRST_FREE_PORT = 1_024;

export function parseAssetUrl(text: string, base?: URL): URL | UrlFault {
  if (text.trim() === '') return invalid("asset_url can't be empty. Leave it out to send no asset.");
  if (text.length > MAX_URL_LENGTH) return invalid(`asset_url can have at most ${MAX_URL_LENGTH} characters.`);
  if (!URL.canParse(text, base?.href)) return invalid("asset_url isn't a valid URL.");
  const url = new URL(text, base);
  if (url.protocol !== 'http:' && url.protocol !== 'https:') {
    return invalid(`asset_url must start with http:// or https://; got ${url.protocol}`);
  }
  if (url.username !== '' || url.password !== '') return invalid("asset_url can't contain a user name or password.");
  if (!LOW_PORTS.has(url.port) && Number(url.port) < FIRST_FREE_PORT) {
    return invalid(`The port of asset_url must be 80, 443 or at least ${FIRST_FREE_PORT}; got ${url.port}.`);
  }
  return url;
}

function invalid(detail: string): UrlFault {
  return { code: 'invalid_url', detail };
}
