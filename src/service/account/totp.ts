// Codes of authenticator apps: time-based one-time passwords (RFC 6238) with SHA-1, 6 digits and 30 seconds, which every app
// supports, and recovery codes for a lost device.

import { createHmac, randomBytes } from 'node:crypto';

const ALPHABET = 'ABCDEFGHIJKLMNOPQRSTUVWXYZ234567';
const SECRET_BYTES = 20;
const STEP_SECONDS = 30;
const DIGITS = 6;
/** The clock of a phone may be off by a step in either direction. */
const TOLERANCE = 1;
const RECOVERY_CODES = 10;
const RECOVERY_BYTES = 10;

/** Returns a secret in Base32, as apps expect it. */
export function createTotpSecret(): string {
  return encodeBase32(randomBytes(SECRET_BYTES));
}

export function isTotpSecret(text: string): boolean {
  return /^[A-Z2-7]{32}$/u.test(text);
}

export function totpCode(secret: Buffer, step: number, digits = DIGITS): string {
  const counter = Buffer.alloc(8);
  counter.writeBigUInt64BE(BigInt(step));
  const mac = createHmac('sha1', secret).update(counter).digest();
  const number = mac.readUInt32BE(mac.readUInt8(mac.length - 1) & 0xf) & 0x7f_ff_ff_ff;
  return String(number % 10 ** digits).padStart(digits, '0');
}

/** Returns the time step of the code, so that it can be used only once, or undefined when the code is wrong. */
export function matchTotp(secret: string, code: string, now: Date): number | undefined {
  const typed = code.replaceAll(/\s/gu, '');
  const key = decodeBase32(secret);
  const current = Math.floor(now.getTime() / 1_000 / STEP_SECONDS);
  const steps = Array.from({ length: 2 * TOLERANCE + 1 }, (_, index) => current - TOLERANCE + index);
  return steps.findLast((step) => totpCode(key, step) === typed);
}

/** Returns the URL that an app reads from the QR code. */
export function totpUrl(secret: string, account: string, issuer: string): string {
  const query = new URLSearchParams({ secret, issuer });
  return `otpauth://totp/${encodeURIComponent(issuer)}:${encodeURIComponent(account)}?${query.toString()}`;
}

/** Returns codes of 80 random bits each, such as `k3jd-8s0q-...`, so a fast hash is enough to store them. */
export function createRecoveryCodes(): string[] {
  return Array.from({ length: RECOVERY_CODES }, () => {
    const text = encodeBase32(randomBytes(RECOVERY_BYTES)).toLowerCase();
    return (text.match(/.{4}/gu) ?? []).join('-');
  });
}

/** Parses a code as people type it. Returns undefined for anything that can't be one. */
export function parseRecoveryCode(text: string): string | undefined {
  const code = text.replaceAll(/[\s-]/gu, '').toLowerCase();
  return /^[a-z2-7]{16}$/u.test(code) ? (code.match(/.{4}/gu) ?? []).join('-') : undefined;
}

function encodeBase32(bytes: Buffer): string {
  const bits = [...bytes].map((byte) => byte.toString(2).padStart(8, '0')).join('');
  return (bits.match(/.{1,5}/gu) ?? []).map((five) => ALPHABET.charAt(parseInt(five.padEnd(5, '0'), 2))).join('');
}

function decodeBase32(text: string): Buffer {
  const bits = Array.from(text, (char) => ALPHABET.indexOf(char).toString(2).padStart(5, '0')).join('');
  return Buffer.from((bits.match(/.{8}/gu) ?? []).map((byte) => parseInt(byte, 2)));
}
