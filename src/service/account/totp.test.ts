import { describe, expect, it } from 'vitest';
import {
  createRecoveryCodes,
  createTotpSecret,
  isTotpSecret,
  matchTotp,
  parseRecoveryCode,
  totpCode,
  totpUrl,
} from './totp.ts';

const SECRET = Buffer.from('12345678901234567890');
/** The same secret in Base32. */
const ENCODED = 'GEZDGNBVGY3TQOJQGEZDGNBVGY3TQOJQ';

describe('totpCode', () => {
  // RFC 6238, appendix B, for SHA-1.
  it.each([
    [59, '94287082'],
    [1_111_111_109, '07081804'],
    [1_111_111_111, '14050471'],
    [1_234_567_890, '89005924'],
    [2_000_000_000, '69279037'],
    [20_000_000_000, '65353130'],
  ])('gives the code of RFC 6238 for second %i', (seconds, code) => {
    expect(totpCode(SECRET, Math.floor(seconds / 30), 8)).toBe(code);
  });
});

describe('matchTotp', () => {
  const at = (seconds: number): Date => new Date(seconds * 1_000);

  it('accepts a code one step early or late, and returns its step', () => {
    for (const seconds of [1_111_111_109 - 30, 1_111_111_109, 1_111_111_109 + 30]) {
      expect(matchTotp(ENCODED, '081 804', at(seconds))).toBe(Math.floor(1_111_111_109 / 30));
    }
  });

  it('refuses older and newer codes, and anything that is not a code', () => {
    for (const seconds of [1_111_111_109 - 61, 1_111_111_109 + 61]) {
      expect(matchTotp(ENCODED, '081804', at(seconds))).toBeUndefined();
    }
    for (const code of ['', '81804', '0818040', '０８１８０４', 'undefined']) {
      expect(matchTotp(ENCODED, code, at(1_111_111_109))).toBeUndefined();
    }
  });

  it('secrets differ and fit into the address that apps read', () => {
    const secret = createTotpSecret();
    expect(isTotpSecret(secret)).toBe(true);
    expect(isTotpSecret(`${secret}A`)).toBe(false);
    expect(createTotpSecret()).not.toBe(secret);
    expect(totpUrl(secret, 'ann@example.com', 'Storybar')).toBe(
      `otpauth://totp/Storybar:ann%40example.com?secret=${secret}&issuer=Storybar`,
    );
  });
});

describe('recovery codes', () => {
  it('creates ten different recovery codes that are recognized as people type them', () => {
    const codes = createRecoveryCodes();
    expect(new Set(codes).size).toBe(10);
    for (const code of codes) {
      expect(code).toMatch(/^(?:[a-z2-7]{4}-){3}[a-z2-7]{4}$/u);
      expect(parseRecoveryCode(` ${code.toUpperCase().replaceAll('-', ' ')}`)).toBe(code);
    }
    for (const text of ['', '123456', 'abcd-efgh-ijkl-mno1', `${codes[0]}a`]) {
      expect(parseRecoveryCode(text)).toBeUndefined();
    }
  });
});
