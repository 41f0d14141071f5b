// Carries a new API key to the page that shows it. The form that created the key redirects there, so reloading can't
// create a second key. The database has only a hash of the key, and the next request may reach another server. The key
// therefore travels in a cookie, encrypted for this session and for one purpose.

import { createCipheriv, createDecipheriv, hkdfSync, randomBytes } from 'node:crypto';

const CIPHER = 'aes-256-gcm';
const NONCE_BYTES = 12;
const TAG_BYTES = 16;

export interface ShownKey {
  readonly id: string;
  readonly name: string;
  readonly key: string;
}

export function sealNewKey(secret: string, newKey: ShownKey): string {
  const nonce = randomBytes(NONCE_BYTES);
  const cipher = createCipheriv(CIPHER, cipherKey(secret), nonce);
  const text = Buffer.concat([cipher.update(JSON.stringify(newKey), 'utf8'), cipher.final()]);
  return Buffer.concat([nonce, cipher.getAuthTag(), text]).toString('base64url');
}

/** Returns undefined when the cookie belongs to another session or was changed. */
export function openNewKey(secret: string, sealed: string): ShownKey | undefined {
  const bytes = Buffer.from(sealed, 'base64url');
  if (bytes.length <= NONCE_BYTES + TAG_BYTES) return undefined;
  const decipher = createDecipheriv(CIPHER, cipherKey(secret), bytes.subarray(0, NONCE_BYTES));
  decipher.setAuthTag(bytes.subarray(NONCE_BYTES, NONCE_BYTES + TAG_BYTES));
  try {
    const text = Buffer.concat([decipher.update(bytes.subarray(NONCE_BYTES + TAG_BYTES)), decipher.final()]);
    return JSON.parse(text.toString('utf8')) as ShownKey;
  } catch {
    // The cookie wasn't encrypted with the secret of this session.
    return undefined;
  }
}

function cipherKey(secret: string): Buffer {
  return Buffer.from(hkdfSync('sha256', secret, '', 'new API key', 32));
}
