// Secrets that are handed out once and kept as a hash: sessions and links in mails. 256 random bits cannot be guessed, so a
// fast hash is enough.

import { createHash, createHmac, randomBytes, timingSafeEqual } from 'node:crypto';

const SHAPE = /^[\w-]{43}$/u;

export function createSecret(): string {
  return randomBytes(32).toString('base64url');
}

/** Anything else was never handed out, and is not worth a look-up. */
export function isSecret(text: string): boolean {
  return SHAPE.test(text);
}

export function hashSecret(secret: string): string {
  return createHash('sha256').update(secret).digest('hex');
}

/** What only the holder of the secret can have been told. */
export function tokenOf(secret: string, purpose: string): string {
  return createHmac('sha256', secret).update(purpose).digest('base64url');
}

/** In a time that tells nothing about the two. */
export function isSameText(one: string, other: string): boolean {
  const digest = (text: string): Buffer => createHash('sha256').update(text).digest();
  return timingSafeEqual(digest(one), digest(other));
}
