// A pending sign-in at a provider. Its state is in a cookie, which only our own host can set. State, nonce and PKCE
// verifier are derived from the secret in it, so a response of the provider is accepted only in the browser that
// requested it, and only for the purpose it was requested for.

import { z } from 'zod';
import { createSecret, isSameText, isSecret, tokenOf } from '../../service/account/secret.ts';
import { SIGN_IN_PROVIDERS, type SignInProvider } from '../../service/account/sign-in-provider.ts';

/** Long enough to sign in at the provider with a second factor. */
export const PENDING_SECONDS = 15 * 60;

const PURPOSE = z.object({
  provider: z.enum(SIGN_IN_PROVIDERS),
  /** The signed-in user who wants to link the identity; null for signing in. */
  userId: z.string().max(60).nullable(),
  /** The page to open afterwards. */
  next: z.string().max(300),
  until: z.number(),
});

export type SignInPurpose = Omit<z.infer<typeof PURPOSE>, 'until'>;

export interface PendingSignIn extends SignInPurpose {
  /** The value of the cookie. */
  readonly cookie: string;
  readonly state: string;
  readonly nonce: string;
  readonly codeVerifier: string;
}

export function beginSignIn(purpose: SignInPurpose, now: Date): PendingSignIn {
  const until = now.getTime() + PENDING_SECONDS * 1_000;
  const payload = Buffer.from(JSON.stringify({ ...purpose, until })).toString('base64url');
  return pendingOf(purpose, payload, createSecret());
}

/** Returns undefined unless the cookie began a sign-in with this provider and this state, not too long ago. */
export function resumeSignIn(
  cookie: string | undefined,
  provider: SignInProvider,
  state: string,
  now: Date,
): PendingSignIn | undefined {
  const [payload = '', secret = ''] = (cookie ?? '').split('.', 2);
  const purpose = isSecret(secret) ? parse(payload) : undefined;
  if (purpose === undefined || purpose.provider !== provider || purpose.until <= now.getTime()) return undefined;
  const pending = pendingOf(purpose, payload, secret);
  return isSameText(state, pending.state) ? pending : undefined;
}

/** The state covers the payload, so that a changed cookie doesn't fit it. */
function pendingOf({ provider, userId, next }: SignInPurpose, payload: string, secret: string): PendingSignIn {
  return {
    provider,
    userId,
    next,
    cookie: `${payload}.${secret}`,
    state: tokenOf(secret, `state ${payload}`),
    nonce: tokenOf(secret, 'nonce'),
    codeVerifier: tokenOf(secret, 'verifier'),
  };
}

function parse(payload: string): z.infer<typeof PURPOSE> | undefined {
  try {
    return PURPOSE.safeParse(JSON.parse(Buffer.from(payload, 'base64url').toString('utf8'))).data;
  } catch {
    // The payload isn't JSON.
    return undefined;
  }
}
