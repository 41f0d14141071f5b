// Device cookies, as described by OWASP. A browser that has signed in keeps a long-lived token for its user, and attempts
// with a valid token have their own limit. Strangers who use up the shared limit therefore can't lock the user out.
// https://owasp.org/www-community/Slow_Down_Online_Guessing_Attacks_with_Device_Cookies
//
// The user's key signs the tokens, so none has to be stored, and a new password, which changes the key, revokes them all.

import { createSecret, isSameText, tokenOf } from '../../service/account/secret.ts';

/** Stands in for the key of an unknown user, so that checking a token takes the same time. */
const UNKNOWN_USER_KEY = createSecret();

export function createDeviceToken(tokenKey: string): string {
  const deviceId = createSecret();
  return `${deviceId}.${signatureOf(deviceId, tokenKey)}`;
}

/** Returns the id of the device, or undefined unless the token was created with this key. */
export function verifyDeviceToken(token: string | undefined, tokenKey: string | undefined): string | undefined {
  const [deviceId = '', signature = ''] = (token ?? '').split('.', 2);
  return isSameText(signature, signatureOf(deviceId, tokenKey ?? UNKNOWN_USER_KEY)) ? deviceId : undefined;
}

function signatureOf(deviceId: string, tokenKey: string): string {
  return tokenOf(tokenKey, `device ${deviceId}`);
}
