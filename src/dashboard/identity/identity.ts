// Signing up, signing in and passwords. Every answer is the same for an address that is known and one that is not, and
// takes the same time. The one exception cannot be avoided: without mails, signing up works at once or not at all.

import { createSecret, hashSecret, isSecret } from '../../account/secret.ts';
import type { Mailer } from '../../mail/mailer.ts';
import type { PasswordLink, User, Users } from '../../store/users.ts';
import { resetMail, signUpMail, takenMail } from './mails.ts';
import type { Passwords } from './passwords.ts';
import type { Throttle } from './throttle.ts';

export interface IdentityOptions {
  readonly users: Users;
  readonly passwords: Passwords;
  readonly throttle: Throttle;
  /** Undefined where the operator set up no mail server. */
  readonly mailer: Mailer | undefined;
  readonly onMailFailed: (error: unknown) => void;
  /** Where links in mails lead. Set wherever there is a mailer. */
  readonly publicUrl: string;
  /** Whoever proves to have this address becomes an operator; empty: nobody by address. */
  readonly operatorEmail: string;
  readonly clock?: () => Date;
}

const LINK_LIFETIME_MS = 3_600_000;

export class Identity {
  readonly #options: IdentityOptions;
  readonly #clock: () => Date;

  constructor(options: IdentityOptions) {
    this.#options = options;
    this.#clock = options.clock ?? (() => new Date());
  }

  /** True: links go out by mail, and a new person proves the address first. */
  get hasMail(): boolean {
    return this.#options.mailer !== undefined;
  }

  /** Undefined when address or password is wrong; which of them is not told. */
  async signIn(email: string, password: string, address: string): Promise<User | undefined> {
    const { users, passwords, throttle } = this.#options;
    await throttle.take('signIn', address, email);
    const user = await users.findByEmail(email);
    return (await passwords.verify(user?.passwordHash, password)) ? user : undefined;
  }

  /** Without mails. Undefined when the address is taken, or kept for the operator, who is to prove it otherwise. */
  async signUp(email: string, password: string, address: string): Promise<User | undefined> {
    const { users, passwords, throttle, operatorEmail } = this.#options;
    await throttle.take('signUp', address, email);
    const hash = await passwords.hash(password);
    return email === operatorEmail ? undefined : await users.signUp(email, hash);
  }

  /** With mails: the way on is in the mail, for a new address and for a known one. */
  async invite(email: string, address: string): Promise<void> {
    await this.#options.throttle.take('signUp', address, email);
    this.#later(async () => {
      const isKnown = (await this.#options.users.findByEmail(email)) !== undefined;
      await this.#mailLink(email, isKnown ? takenMail : signUpMail);
    });
  }

  async requestReset(email: string, address: string): Promise<void> {
    await this.#options.throttle.take('reset', address, email);
    this.#later(async () => {
      const isKnown = (await this.#options.users.findByEmail(email)) !== undefined;
      if (isKnown) await this.#mailLink(email, resetMail);
    });
  }

  async findLink(secret: string): Promise<PasswordLink | undefined> {
    return isSecret(secret) ? await this.#options.users.findLink(hashSecret(secret)) : undefined;
  }

  async useLink(secret: string, password: string): Promise<User | undefined> {
    const { users, passwords } = this.#options;
    return await users.useLink(hashSecret(secret), await passwords.hash(password));
  }

  /** False when the present password is wrong. All sessions end, this one too. */
  async changePassword(user: User, present: string, next: string, address: string): Promise<boolean> {
    const { users, passwords, throttle } = this.#options;
    await throttle.take('password', address, user.id);
    const known = await users.findByEmail(user.email);
    if (!(await passwords.verify(known?.passwordHash, present))) return false;
    await users.setPassword(user.id, await passwords.hash(next));
    return true;
  }

  /** After the answer: what is looked up and written must not show in the time it takes. */
  #later(work: () => Promise<void>): void {
    work().catch(this.#options.onMailFailed);
  }

  async #mailLink(email: string, mail: (link: string) => { subject: string; text: string }): Promise<void> {
    const { users, mailer, publicUrl, operatorEmail } = this.#options;
    const secret = createSecret();
    const expiresAt = new Date(this.#clock().getTime() + LINK_LIFETIME_MS);
    const role = email === operatorEmail ? 'operator' : 'member';
    await users.addLink(hashSecret(secret), { email, role, accountId: null, expiresAt }, 'system');
    mailer?.post({ to: email, ...mail(passwordLink(publicUrl, secret)) });
  }
}

export function passwordLink(baseUrl: string, secret: string): string {
  return `${baseUrl}/password?link=${secret}`;
}
