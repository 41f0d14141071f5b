// Adding passkeys and signing in with them (WebAuthn). The device checks its user by fingerprint, face or PIN, so a passkey
// stands for both the password and the second factor.

import type * as WebAuthn from '@simplewebauthn/server';
import { z } from 'zod';
import { hashSecret } from '../../service/account/secret.ts';
import type { Passkey, Passkeys } from '../../service/store/people/passkeys.ts';
import { type User, addressOf } from '../../service/store/people/user.ts';
import type { Users } from '../../service/store/people/users.ts';
import { createDeviceToken } from './device-token.ts';
import type { AuthenticatedUser } from './identity.ts';
import type { Throttle } from './throttle.ts';

export interface PasskeySignInOptions {
  readonly users: Users;
  readonly passkeys: Passkeys;
  readonly throttle: Throttle;
}

/** The browser of the visitor: its session cookie, hashed, and the origin of our pages as it sees them. */
export interface PasskeyVisitor {
  readonly visitor: string;
  readonly origin: string;
  readonly address: string;
}

type ChallengePurpose = 'sign-in' | `register ${string}`;

const CHALLENGE_MS = 5 * 60_000;
const SITE_NAME = 'Storybar';
/** Loaded on demand, because it would take a third of the server's startup time. */
const webAuthn = async (): Promise<typeof WebAuthn> => await import('@simplewebauthn/server');

const RESPONSE = z.object({
  id: z.string().max(2_000),
  rawId: z.string().max(2_000),
  type: z.literal('public-key'),
  clientExtensionResults: z.looseObject({}),
});
const REGISTRATION = RESPONSE.extend({
  response: z.object({
    clientDataJSON: z.string(),
    attestationObject: z.string(),
    transports: z.array(z.string().max(50)).max(10).optional(),
  }),
});
const ASSERTION = RESPONSE.extend({
  response: z.object({
    clientDataJSON: z.string(),
    authenticatorData: z.string(),
    signature: z.string(),
    userHandle: z.string().optional(),
  }),
});

export class PasskeySignIn {
  readonly #options: PasskeySignInOptions;

  constructor(options: PasskeySignInOptions) {
    this.#options = options;
  }

  async registrationOptions(user: User, { visitor, origin }: PasskeyVisitor): Promise<object> {
    const existing = await this.#options.passkeys.list(user.id);
    const options = await (await webAuthn()).generateRegistrationOptions({
      rpName: SITE_NAME,
      rpID: new URL(origin).hostname,
      userName: addressOf(user),
      userID: new Uint8Array(Buffer.from(user.id)),
      attestationType: 'none',
      excludeCredentials: existing.map(({ id, transports }) => ({ id, transports: [...transports] })),
      authenticatorSelection: { residentKey: 'required', userVerification: 'required' },
    });
    await this.#remember(registrationOf(user), options.challenge, visitor);
    return options;
  }

  /** Returns false when the response isn't valid for a challenge of this visitor, or the passkey is known already. */
  async register(user: User, name: string, text: string, visit: PasskeyVisitor): Promise<boolean> {
    const response = parse(REGISTRATION, text);
    if (response === undefined) return false;
    const result = await (await webAuthn())
      .verifyRegistrationResponse({
        response: { ...response, response: withoutUndefined(response.response) },
        ...this.#expected(registrationOf(user), visit),
      })
      .catch(() => undefined);
    if (result?.verified !== true) return false;
    const { id, publicKey, counter } = result.registrationInfo.credential;
    const stored = { id, userId: user.id, name, publicKey: Buffer.from(publicKey).toString('base64url'), counter };
    return await this.#options.passkeys.add({ ...stored, transports: response.response.transports ?? [] });
  }

  async signInOptions({ visitor, origin, address }: PasskeyVisitor): Promise<object> {
    await this.#options.throttle.takeChallenge(address);
    const options = await (await webAuthn()).generateAuthenticationOptions({
      rpID: new URL(origin).hostname,
      userVerification: 'required',
    });
    await this.#remember('sign-in', options.challenge, visitor);
    return options;
  }

  /** Returns undefined when the passkey is unknown, or the response isn't valid for a challenge of this visitor. */
  async signIn(text: string, visit: PasskeyVisitor): Promise<AuthenticatedUser | undefined> {
    const { users, passkeys, throttle } = this.#options;
    const response = parse(ASSERTION, text);
    if (response === undefined) return undefined;
    await throttle.takePasskey(visit.address);
    const passkey = await passkeys.find(response.id);
    if (passkey === undefined) return undefined;
    const result = await (await webAuthn())
      .verifyAuthenticationResponse({
        response: { ...response, response: withoutUndefined(response.response) },
        ...this.#expected('sign-in', visit),
        credential: credentialOf(passkey),
      })
      .catch(() => undefined);
    if (result?.verified !== true) return undefined;
    if (!(await passkeys.markUsed(passkey.id, result.authenticationInfo.newCounter))) return undefined;
    const user = await users.find(passkey.userId);
    return user && { user, deviceToken: createDeviceToken(user.tokenKey) };
  }

  async #remember(purpose: ChallengePurpose, challenge: string, visitor: string): Promise<void> {
    const expiresAt = new Date(Date.now() + CHALLENGE_MS);
    await this.#options.passkeys.addChallenge(hashOf(purpose, challenge), visitor, expiresAt);
  }

  #expected(purpose: ChallengePurpose, { visitor, origin }: PasskeyVisitor) {
    return {
      expectedChallenge: async (challenge: string) =>
        await this.#options.passkeys.useChallenge(hashOf(purpose, challenge), visitor),
      expectedOrigin: origin,
      expectedRPID: new URL(origin).hostname,
      requireUserVerification: true,
    };
  }
}

function registrationOf({ id }: User): ChallengePurpose {
  return `register ${id}`;
}

/**
 * The purpose is part of the hash: anyone gets a challenge for signing in, but one for adding a passkey takes the
 * password.
 */
function hashOf(purpose: ChallengePurpose, challenge: string): string {
  return hashSecret(`${purpose} ${challenge}`);
}

function credentialOf({ id, publicKey, counter, transports }: Passkey) {
  return { id, publicKey: new Uint8Array(Buffer.from(publicKey, 'base64url')), counter, transports: [...transports] };
}

function parse<Value>(schema: z.ZodType<Value>, text: string): Value | undefined {
  try {
    return schema.safeParse(JSON.parse(text)).data;
  } catch {
    // The text isn't JSON.
    return undefined;
  }
}

function withoutUndefined<Value extends object>(
  value: Value,
): { [Key in keyof Value]: Exclude<Value[Key], undefined> } {
  const entries = Object.entries(value).filter(([, each]) => each !== undefined);
  return Object.fromEntries(entries) as { [Key in keyof Value]: Exclude<Value[Key], undefined> };
}
