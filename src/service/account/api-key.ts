// API keys. A key is a fixed prefix, 160 random bits and a checksum, all in letters and digits, so that a double-click selects
// it. Only its hash is stored. The checksum reveals a mistyped key without a database lookup.

import { createHash, randomBytes } from 'node:crypto';
import { crc32 } from 'node:zlib';

export const KEY_MODES = ['live', 'test'] as const;
export type KeyMode = (typeof KEY_MODES)[number];

const PREFIX: Readonly<Record<KeyMode, string>> = { live: 'sb_live_', test: 'sb_test_' };
const ALPHABET = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';
const RANDOM_BYTES = 20;
/** The number of base-62 digits for 160 bits, and for 32 bits. */
const BODY_LENGTH = 27;
const CHECKSUM_LENGTH = 6;
const SHAPE = new RegExp(`^sb_(?:live|test)_[0-9A-Za-z]{${BODY_LENGTH + CHECKSUM_LENGTH}}$`, 'u');

export function createApiKey(mode: KeyMode): string {
  const body = toBase62(BigInt(`0x${randomBytes(RANDOM_BYTES).toString('hex')}`), BODY_LENGTH);
  return `${PREFIX[mode]}${body}${checksum(PREFIX[mode] + body)}`;
}

export function modeOfKey(key: string): KeyMode {
  return key.startsWith(PREFIX.test) ? 'test' : 'live';
}

export function isWellFormedKey(key: string): boolean {
  if (!SHAPE.test(key)) return false;
  return key.slice(-CHECKSUM_LENGTH) === checksum(key.slice(0, -CHECKSUM_LENGTH));
}

/**
 * Hashes a key. The hash is fast on purpose: 160 random bits can't be guessed, and a slow hash would let attackers
 * waste CPU time.
 */
export function hashKey(key: string): Buffer {
  return createHash('sha256').update(key).digest();
}

/** Returns the parts of a key that may be shown after it was shown in full once. */
export function maskKey(key: string): { prefix: string; lastFour: string } {
  return { prefix: key.slice(0, PREFIX.live.length + 4), lastFour: key.slice(-4) };
}

function checksum(text: string): string {
  return toBase62(BigInt(crc32(text)), CHECKSUM_LENGTH);
}

function toBase62(value: bigint, length: number): string {
  let digits = '';
  let rest = value;
  for (let index = 0; index < length; index += 1) {
    digits = `${ALPHABET[Number(rest % 62n)]}${digits}`;
    rest /= 62n;
  }
  return digits;
}
