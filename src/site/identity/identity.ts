// Sign-up, sign-in and passwords. Responses and their timing are the same for known and unknown email addresses. The one
// exception can't be avoided: without email, sign-up either works immediately or reveals that the address is taken.

import { mailboxOf } from '../../service/account/email.ts';
import { createSecret, hashSecret, isSecret } from '../../service/account/secret.ts';
import { AppError } from '../../shared/errors.ts';
import type { Mailer } from '../../service/mail/mailer.ts';
import { must } from '../../shared/must.ts';
import type { Members } from '../../service/store/people/members.ts';
import type { Confirmation, PasswordLink, User } from '../../service/store/people/user.ts';
import type { Users } from '../../service/store/people/users.ts';
import { createDeviceToken, verifyDeviceToken } from './device-token.ts';
import {
  EMAIL_TAKEN,
  EMAILS,
  type EmailPurpose,
  invitation,
  knownInvitation,
  providerLinked,
  type SecurityChange,
} from './emails.ts';
import type { Passwords } from './passwords.ts';
import type { Throttle } from './throttle.ts';

export interface IdentityOptions {
  readonly users: Users;
  readonly passwords: Passwords;
  readonly throttle: Throttle;
  /** Undefined when the operator hasn't configured an SMTP server. */
  readonly mailer: Mailer | undefined;
  /** `requestId` is the id of the request that caused the email. */
  readonly onEmailFailed: (error: unknown, purpose: LoggedPurpose, requestId: string) => void;
  /** The base URL of links in emails. Always set when there is a mailer. */
  readonly publicUrl: string;
  /** A user who proves to own this address becomes an operator. If empty, no address does. */
  readonly operatorEmail: string;
  /**
   * If true, accounts can use live keys as soon as their user signs up. Otherwise the address must be confirmed, or the
   * operator approves.
   */
  readonly trustsSignUps: boolean;
  readonly clock?: () => Date;
}

type LoggedPurpose = EmailPurpose | 'invitation' | 'provider-linked';

/** A user who has just proven their identity. */
export interface AuthenticatedUser {
  readonly user: User;
  /** Marks the browser as one that this user has signed in with. */
  readonly deviceToken: string;
}

export interface SignInAttempt {
  readonly email: string;
  readonly password: string;
  readonly address: string;
  /** The token from the browser's cookie, not verified yet. */
  readonly deviceToken: string | undefined;
}

export interface EmailRequest {
  readonly email: string;
  readonly address: string;
  readonly requestId: string;
}

const LINK_LIFETIME_MS = 3_600_000;
export const PASSWORD_FIRST = 'This needs a password, and you don’t have one yet. Set one on the Security page first.';
const CONFIRMATION_LIFETIME_MS = 3 * 24 * 3_600_000;

export class Identity {
  readonly #options: IdentityOptions;
  readonly #clock: () => Date;
  readonly #pendingEmails = new Set<Promise<void>>();

  constructor(options: IdentityOptions) {
    this.#options = options;
    this.#clock = options.clock ?? (() => new Date());
  }

  /** If true, users confirm their address with a link in an email before they can create live keys. */
  get sendsEmail(): boolean {
    return this.#options.mailer !== undefined;
  }

  /** Returns undefined when the email or the password is wrong. */
  async signIn({ email, password, address, deviceToken }: SignInAttempt): Promise<AuthenticatedUser | undefined> {
    const user = await this.#options.users.findByEmail(email);
    return await this.#signIn(user, email, { password, address, deviceToken });
  }

  /** Attempts are limited per name, which is the address if the user has one. */
  async #signIn(
    user: User | undefined,
    name: string,
    { password, address, deviceToken }: Omit<SignInAttempt, 'email'>,
  ): Promise<AuthenticatedUser | undefined> {
    const { passwords, throttle } = this.#options;
    const deviceId = verifyDeviceToken(deviceToken, user?.tokenKey);
    if (deviceId === undefined) await throttle.take('signIn', address, name);
    else await throttle.takeForDevice(deviceId);
    const isCorrect = await passwords.verify(user?.passwordHash ?? undefined, password);
    return isCorrect ? authenticated(user) : undefined;
  }

  /**
   * Signs up without email. Returns undefined when the address is taken or belongs to the operator, who has to prove it
   * another way.
   */
  async signUp(email: string, password: string, address: string): Promise<AuthenticatedUser | undefined> {
    const { users, passwords, throttle, operatorEmail, trustsSignUps } = this.#options;
    await throttle.takeSignUp(address, mailboxOf(email));
    const passwordHash = await passwords.hash(password);
    if (email === operatorEmail) return undefined;
    const access = trustsSignUps ? 'granted' : 'awaits approval';
    return authenticated(await users.signUp(email, passwordHash, access));
  }

  /**
   * Signs up with email. Works for every address, so the response doesn't reveal which ones are known. Confirming takes
   * both the link, which only the owner of the address gets, and a session or the password of this user. Only an
   * unknown address can be confirmed.
   */
  async signUpUnconfirmed({ email, address, requestId }: EmailRequest, password: string): Promise<AuthenticatedUser> {
    const { users, passwords, throttle } = this.#options;
    await throttle.takeSignUp(address, mailboxOf(email));
    const user = await users.signUpUnconfirmed(email, await passwords.hash(password));
    this.#inBackground('sign-up', requestId, async () => {
      if (await this.#isKnown(email)) await this.#emailLink(email, 'account-exists');
      else await this.#emailConfirmation(user, email);
    });
    return must(authenticated(user), 'the new user');
  }

  /** Sends the confirmation again. */
  async requestConfirmation(user: User, address: string, requestId: string): Promise<void> {
    const email = must(user.unconfirmedEmail, 'the unconfirmed address');
    await this.#options.throttle.take('signUp', address, mailboxOf(email));
    this.#inBackground('sign-up', requestId, async () => {
      if (await this.#isKnown(email)) await this.#emailLink(email, 'account-exists');
      else await this.#emailConfirmation(user, email);
    });
  }

  async findConfirmation(secret: string): Promise<Confirmation | undefined> {
    return isSecret(secret) ? await this.#options.users.findConfirmation(hashSecret(secret)) : undefined;
  }

  /**
   * Checks the password of the user who signed up, for a visitor without a session of that user. It is a sign-in with
   * the same limits and timing. Each of several sign-ups with one address needs its own password. Returns undefined
   * when the password is wrong.
   */
  async signInToConfirm(
    { userId }: Confirmation,
    attempt: Omit<SignInAttempt, 'email'>,
  ): Promise<AuthenticatedUser | undefined> {
    const user = must(await this.#options.users.find(userId), 'the user who signed up');
    return await this.#signIn(user, user.email ?? user.id, attempt);
  }

  /**
   * `userId` is the user who proved to have signed up. Otherwise the owner of an address could give it to a stranger
   * who signed up with it. Returns undefined when the link has been used or has expired, or the address has been taken
   * by another user.
   */
  async confirm(secret: string, userId: string): Promise<User | undefined> {
    const found = await this.findConfirmation(secret);
    if (found?.userId !== userId) return undefined;
    const { users, throttle, trustsSignUps } = this.#options;
    const isNewAccount = (await users.find(userId))?.unconfirmedEmail !== null;
    const isGranted = trustsSignUps || !isNewAccount || (await throttle.allowsLiveAccount(mailboxOf(found.email)));
    return await users.confirm(hashSecret(secret), userId, isGranted ? 'granted' : 'awaits approval');
  }

  /**
   * Sends a link to the new address. Until it is confirmed, the old one stays. Works for every address, so the response
   * doesn't reveal which ones are known. Returns false when the password is wrong.
   */
  async requestEmailChange(user: User, password: string, request: EmailRequest): Promise<boolean> {
    const { email, address, requestId } = request;
    if (!(await this.checkPassword(user, password, address))) return false;
    await this.#options.throttle.take('signUp', address, mailboxOf(email));
    this.#inBackground('email-change', requestId, async () => {
      if (!(await this.#isKnown(email))) await this.#emailConfirmation(user, email, 'email-change');
      else await must(this.#options.mailer, 'the mailer').send({ to: email, ...EMAIL_TAKEN });
    });
    return true;
  }

  /** Notifies the old address, so that its owner notices a change that they didn't make. */
  reportEmailChange(oldEmail: string, requestId: string): void {
    const { mailer, publicUrl } = this.#options;
    this.#inBackground('email-changed', requestId, async () => {
      await must(mailer, 'the mailer').send({ to: oldEmail, ...EMAILS['email-changed'](publicUrl) });
    });
  }

  /** Notifies the user of a change that makes signing in easier for a stranger who has the password. */
  reportSecurityChange({ email }: User, change: SecurityChange, requestId: string): void {
    const { mailer, publicUrl } = this.#options;
    if (mailer === undefined || email === null) return;
    this.#inBackground(change, requestId, async () => {
      await mailer.send({ to: email, ...EMAILS[change](`${publicUrl}/dashboard/security`) });
    });
  }

  /** Notifies the user, so that they notice a way to sign in that they didn't add. Does nothing without email. */
  reportProviderLinked({ email }: User, providerName: string, requestId: string): void {
    const { mailer, publicUrl } = this.#options;
    if (mailer === undefined || email === null) return;
    const text = providerLinked(providerName, `${publicUrl}/dashboard/security`);
    this.#inBackground('provider-linked', requestId, async () => await mailer.send({ to: email, ...text }));
  }

  async findUser(userId: string): Promise<User | undefined> {
    return await this.#options.users.find(userId);
  }

  /**
   * Sends a link to sign in or to choose a new password. Strangers can't use these up, unlike sign-in attempts: when no
   * further email is sent, the mailbox already has valid links.
   */
  async requestLink({ email, address, requestId }: EmailRequest): Promise<void> {
    await this.#options.throttle.take('reset', address, email);
    this.#inBackground('password-reset', requestId, async () => await this.#emailLink(email, 'password-reset'));
  }

  /** Returns true when the link is for a user who exists, rather than for a new one. */
  async isKnown({ email }: PasswordLink): Promise<boolean> {
    return await this.#isKnown(email);
  }

  async findLink(secret: string): Promise<PasswordLink | undefined> {
    return isSecret(secret) ? await this.#options.users.findLink(hashSecret(secret)) : undefined;
  }

  /** Returns undefined when the link has been used or has expired. */
  async useLink(secret: string, password: string): Promise<AuthenticatedUser | undefined> {
    const { users, passwords } = this.#options;
    return authenticated(await users.useLink(hashSecret(secret), await passwords.hash(password)));
  }

  /**
   * Signs in without changing the password. Returns undefined when the link has been used or has expired, or is for a
   * new user.
   */
  async useLinkToSignIn(secret: string): Promise<AuthenticatedUser | undefined> {
    if (!isSecret(secret)) return undefined;
    return authenticated(await this.#options.users.useLinkToSignIn(hashSecret(secret)));
  }

  /** Returns undefined when the current password is wrong. Ends all sessions, including the current one. */
  async changePassword(
    user: User,
    currentPassword: string,
    newPassword: string,
    address: string,
  ): Promise<AuthenticatedUser | undefined> {
    const { users, passwords } = this.#options;
    if (!(await this.checkPassword(user, currentPassword, address))) return undefined;
    return authenticated(await users.setPassword(user.id, await passwords.hash(newPassword)));
  }

  /** Asks a signed-in user for the password again, before something that can't be undone. */
  async checkPassword(user: User, password: string, address: string): Promise<boolean> {
    const { passwords, throttle } = this.#options;
    await throttle.take('password', address, user.id);
    if (user.passwordHash === null) throw new AppError('invalid_fields', PASSWORD_FIRST);
    return await passwords.verify(user.passwordHash, password);
  }

  /** Limits actions that are expensive or send an email to an address that someone else typed. */
  async throttle(action: 'invite' | 'export', user: User, address: string): Promise<void> {
    await this.#options.throttle.take(action, address, user.accountId);
  }

  /** Sends an invitation. The email to a known address doesn't contain the link, so it can't change that user. */
  emailInvitation(email: string, inviter: string, link: string, requestId: string): void {
    this.#inBackground('invitation', requestId, async () => {
      const isKnown = email === this.#options.operatorEmail || (await this.#isKnown(email));
      const text = isKnown ? knownInvitation(inviter) : invitation(inviter, link);
      await must(this.#options.mailer, 'the mailer').send({ to: email, ...text });
    });
  }

  /** Returns undefined when the address has been taken by a user meanwhile. */
  async acceptInvitation(secret: string, password: string, members: Members): Promise<AuthenticatedUser | undefined> {
    return authenticated(await members.accept(hashSecret(secret), await this.#options.passwords.hash(password)));
  }

  /** Returns true when an invitation that isn't sent by email may be created for the address. */
  async canInvite(email: string): Promise<boolean> {
    return email !== this.#options.operatorEmail && !(await this.#isKnown(email));
  }

  /** Waits for emails that are being sent. */
  async close(): Promise<void> {
    await Promise.all(this.#pendingEmails);
  }

  async #isKnown(email: string): Promise<boolean> {
    return (await this.#options.users.findByEmail(email)) !== undefined;
  }

  /** The response doesn't wait, so its timing doesn't reveal whether the address is known. */
  #inBackground(purpose: LoggedPurpose, requestId: string, task: () => Promise<void>): void {
    const pending = task()
      .catch((error: unknown) => this.#options.onEmailFailed(error, purpose, requestId))
      .finally(() => this.#pendingEmails.delete(pending));
    this.#pendingEmails.add(pending);
  }

  async #emailConfirmation({ id: userId }: User, email: string, purpose: EmailPurpose = 'sign-up'): Promise<void> {
    const { users, mailer, publicUrl, operatorEmail } = this.#options;
    const secret = createSecret();
    const expiresAt = new Date(this.#clock().getTime() + CONFIRMATION_LIFETIME_MS);
    const role = email === operatorEmail ? 'operator' : 'member';
    await users.addConfirmation(hashSecret(secret), { userId, email, role, expiresAt });
    const text = EMAILS[purpose](`${publicUrl}/confirm?link=${secret}`);
    await must(mailer, 'the mailer').send({ to: email, ...text });
  }

  /** Does nothing for an unknown address, and while enough links that were sent to the address are valid. */
  async #emailLink(email: string, purpose: EmailPurpose): Promise<void> {
    const { users, mailer, publicUrl, operatorEmail } = this.#options;
    const secret = createSecret();
    const hash = hashSecret(secret);
    const expiresAt = new Date(this.#clock().getTime() + LINK_LIFETIME_MS);
    const role = email === operatorEmail ? 'operator' : 'member';
    if (!(await users.addMailedLink(hash, { email, role, expiresAt }))) return;
    const text = EMAILS[purpose](passwordLinkUrl(publicUrl, secret));
    try {
      await must(mailer, 'the mailer').send({ to: email, ...text });
    } catch (error) {
      // A link that never arrived mustn't keep another one from being sent.
      await users.removeLink(hash);
      throw error;
    }
  }
}

function authenticated(user: User | undefined): AuthenticatedUser | undefined {
  return user && { user, deviceToken: createDeviceToken(user.tokenKey) };
}

export function passwordLinkUrl(baseUrl: string, secret: string): string {
  return `${baseUrl}/password?link=${secret}`;
}
