// Secrets that are handed out once and stored as a hash: sessions and links in emails. 256 random bits can't be guessed, so a
// fast hash is enough.

import { createHash, createHmac, randomBytes, timingSafeEqual } from 'node:crypto';

const SHAPE = /^[\w-]{43}$/u;

export function createSecret(): string {
  return randomBytes(32).toString('base64url');
}

/** Any other text was never handed out, so it isn't worth a database lookup. */
export function isSecret(text: string): boolean {
  return SHAPE.test(text);
}

export function hashSecret(secret: string): string {
  return createHash('sha256').update(secret).digest('hex');
}

/** Returns a token that can be derived only with the secret. */
export function tokenOf(secret: string, purpose: string): string {
  return createHmac('sha256', secret).update(purpose).digest('base64url');
}

/** Compares in constant time. */
export function isSameText(one: string, other: string): boolean {
  const digest = (text: string): Buffer => createHash('sha256').update(text).digest();
  return timingSafeEqual(digest(one), digest(other));
}
