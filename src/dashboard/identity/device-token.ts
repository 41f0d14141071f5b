// Device cookies, as described by OWASP. A browser that has signed in keeps a long-lived token for its user, and attempts
// with a valid token have their own limit. Strangers who use up the shared limit therefore can't lock the user out.
// https://owasp.org/www-community/Slow_Down_Online_Guessing_Attacks_with_Device_Cookies
//
// The signing key of a token is the user's password hash: nothing has to be stored, and a new password revokes all tokens.

import { createSecret, isSameText, tokenOf } from '../../account/secret.ts';

/** Stands in for the password hash of an unknown user, so that checking a token takes the same time. */
const UNKNOWN_USER_KEY = createSecret();

export function createDeviceToken(passwordHash: string): string {
  const deviceId = createSecret();
  return `${deviceId}.${signatureOf(deviceId, passwordHash)}`;
}

/** The id of the device; undefined unless the token was created for the user with this password hash. */
export function verifyDeviceToken(token: string | undefined, passwordHash: string | undefined): string | undefined {
  const [deviceId = '', signature = ''] = (token ?? '').split('.', 2);
  return isSameText(signature, signatureOf(deviceId, passwordHash ?? UNKNOWN_USER_KEY)) ? deviceId : undefined;
}

function signatureOf(deviceId: string, passwordHash: string): string {
  return tokenOf(passwordHash, `device ${deviceId}`);
}
