// The server that a command uses, and the key for it.

import type { ClientSettings } from '../service/config/settings.ts';
import { UsageError } from './exit-codes.ts';

export function serverOf(
  settings: ClientSettings,
  url = settings.serverUrl,
  key = settings.apiKey,
): { url: string; key: string } {
  if (!/^https?:\/\//iu.test(url) || !URL.canParse(url)) {
    const got = url === '' ? '' : `; got "${url}"`;
    throw new UsageError(`give the URL of the server with --url or STORYBAR_URL${got}`);
  }
  if (key === '') throw new UsageError('give your API key with STORYBAR_API_KEY or --key');
  // A header can't contain other characters, and the error of the HTTP client would repeat the key.
  if (!/^[\x21-\x7e]+$/u.test(key)) throw new UsageError("the API key has characters that a key can't have");
  return { url, key };
}
