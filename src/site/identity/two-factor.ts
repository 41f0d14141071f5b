// Signing in with a second factor: the code of an authenticator app, or a recovery code. Between the password and the
// code the user has no session, only a token that names the user whose password was right.

import { isSameText, hashSecret, tokenOf } from '../../service/account/secret.ts';
import { createRecoveryCodes, isTotpSecret, matchTotp, parseRecoveryCode } from '../../service/account/totp.ts';
import type { AuthenticatorState, SecondFactors } from '../../service/store/people/second-factors.ts';
import type { User } from '../../service/store/people/user.ts';
import type { Users } from '../../service/store/people/users.ts';
import { createDeviceToken } from './device-token.ts';
import type { AuthenticatedUser } from './identity.ts';
import type { Throttle } from './throttle.ts';

export interface TwoFactorOptions {
  readonly users: Users;
  readonly factors: SecondFactors;
  readonly throttle: Throttle;
  readonly clock?: () => Date;
}

const PENDING_MS = 10 * 60_000;

export class TwoFactor {
  readonly #options: TwoFactorOptions;
  readonly #clock: () => Date;

  constructor(options: TwoFactorOptions) {
    this.#options = options;
    this.#clock = options.clock ?? (() => new Date());
  }

  /** Returns undefined when the user signs in with the password alone. */
  async state({ id }: User): Promise<AuthenticatorState | undefined> {
    return await this.#options.factors.find(id);
  }

  /**
   * Returns the token that a user whose password was right sends together with the code. It is signed like a device
   * token.
   */
  begin(user: User): string {
    const until = this.#clock().getTime() + PENDING_MS;
    return `${user.id}.${until}.${signatureOf(user.id, until, user.tokenKey)}`;
  }

  /**
   * Returns the user whose password was right, or undefined when the token is too old or forged, or the password has
   * changed.
   */
  async pendingUser(token: string): Promise<User | undefined> {
    const [userId = '', until = '', signature = ''] = token.split('.');
    const user = await this.#options.users.find(userId);
    if (user === undefined || !(Number(until) > this.#clock().getTime())) return undefined;
    const expected = signatureOf(userId, Number(until), user.tokenKey);
    return isSameText(signature, expected) ? user : undefined;
  }

  /** Returns undefined when the code is wrong or was used before. */
  async finish(user: User, code: string, address: string): Promise<AuthenticatedUser | undefined> {
    await this.#options.throttle.takeCode(address, user.id);
    if (!(await this.#isAccepted(user, code))) return undefined;
    return { user, deviceToken: createDeviceToken(user.tokenKey) };
  }

  /**
   * Returns the recovery codes, which can't be shown again. Returns undefined when the code doesn't belong to the
   * secret.
   */
  async turnOn(user: User, secret: string, code: string): Promise<string[] | undefined> {
    const step = isTotpSecret(secret) ? matchTotp(secret, code, this.#clock()) : undefined;
    if (step === undefined) return undefined;
    const codes = createRecoveryCodes();
    const added = await this.#options.factors.add({
      userId: user.id,
      secret,
      step,
      recoveryHashes: codes.map(hashSecret),
    });
    return added ? codes : undefined;
  }

  /** Returns undefined when the user has no authenticator app any more. */
  async replaceRecoveryCodes({ id }: User): Promise<string[] | undefined> {
    const codes = createRecoveryCodes();
    return (await this.#options.factors.replaceRecoveryCodes(id, codes.map(hashSecret))) ? codes : undefined;
  }

  /** Returns false when it was off already. */
  async turnOff({ id }: User): Promise<boolean> {
    return await this.#options.factors.remove(id, `user:${id}`);
  }

  async #isAccepted(user: User, code: string): Promise<boolean> {
    const { factors } = this.#options;
    const state = await factors.find(user.id);
    if (state === undefined) return false;
    const step = matchTotp(state.secret, code, this.#clock());
    if (step !== undefined) return await factors.useStep(user.id, step);
    const recoveryCode = parseRecoveryCode(code);
    return recoveryCode !== undefined && (await factors.useRecoveryCode(user.id, hashSecret(recoveryCode)));
  }
}

function signatureOf(userId: string, until: number, tokenKey: string): string {
  return tokenOf(tokenKey, `second factor ${userId} ${until}`);
}
