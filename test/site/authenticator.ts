// An authenticator app.

import { totpCode } from '../../src/service/account/totp.ts';

const ALPHABET = 'ABCDEFGHIJKLMNOPQRSTUVWXYZ234567';

/** Returns the code that an app shows, or one of another time step. */
export const codeOf = (secret: string, stepsAhead = 0): string => {
  const bits = Array.from(secret, (char) => ALPHABET.indexOf(char).toString(2).padStart(5, '0')).join('');
  const key = Buffer.from((bits.match(/.{8}/gu) ?? []).map((byte) => parseInt(byte, 2)));
  return totpCode(key, Math.floor(Date.now() / 30_000) + stepsAhead);
};
export const secretIn = (text: string): string =>
  /name="secret" value="(?<secret>[A-Z2-7]{32})"/u.exec(text)?.groups?.['secret'] ?? '';
