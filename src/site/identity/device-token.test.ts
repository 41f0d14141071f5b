import { describe, expect, it } from 'vitest';
import { createDeviceToken, verifyDeviceToken } from './device-token.ts';

const HASH = '$argon2id$v=19$m=19456,t=2,p=1$c2FsdA$aGFzaA';

describe('a device token', () => {
  it('a device token identifies the device to the user it was created for', () => {
    const token = createDeviceToken(HASH);
    expect(verifyDeviceToken(token, HASH)).toBe(token.split('.')[0]);
    expect(verifyDeviceToken(token, HASH)).not.toBe(verifyDeviceToken(createDeviceToken(HASH), HASH));
  });

  it('a device token is invalid for another user, after a new password, and for an unknown user', () => {
    const token = createDeviceToken(HASH);
    expect(verifyDeviceToken(token, `${HASH}x`)).toBeUndefined();
    expect(verifyDeviceToken(token, undefined)).toBeUndefined();
    expect(verifyDeviceToken(createDeviceToken(''), undefined)).toBeUndefined();
  });

  it.each([
    ['a missing token', () => undefined],
    ['an empty token', () => ''],
    ['a device id without a signature', (token: string) => token.split('.')[0]],
    ['a signature for another device id', (token: string) => `other.${token.split('.')[1]}`],
    ['a signature that was cut off', (token: string) => token.slice(0, -1)],
  ])('a device token is invalid as %s', (_name, forge) => {
    expect(verifyDeviceToken(forge(createDeviceToken(HASH)), HASH)).toBeUndefined();
  });
});
