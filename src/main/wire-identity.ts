// Who signs in to the site, and how they get there: sessions, passwords, mails, and the first operator.

import { type Settings, SettingsError } from '../config/settings.ts';
import { SessionGuard } from '../dashboard/identity/session-guard.ts';
import { Identity } from '../dashboard/identity/identity.ts';
import { Passwords } from '../dashboard/identity/passwords.ts';
import { Throttle } from '../dashboard/identity/throttle.ts';
import { LocalLimits } from '../http/limits/local-limits.ts';
import { SmtpMailer } from '../mail/mailer.ts';
import type { Store } from '../store/store.ts';
import type { Logger } from '../telemetry/logger.ts';
import { makePasswordLink } from './password-link.ts';

export interface IdentityServices {
  readonly sessionGuard: SessionGuard;
  readonly identity: Identity;
  readonly close: () => Promise<void>;
}

/** Links in mails must lead to us and nowhere else, so the host a visitor claims to have asked is not good enough. */
export function assertMailComplete({ smtpUrl, mailFrom, publicUrl }: Settings): void {
  if (smtpUrl === '') return;
  const needed = 'is needed for STORYBAR_SMTP_URL';
  const faults = [
    ...(mailFrom === '' ? [`STORYBAR_MAIL_FROM ${needed}`] : []),
    ...(publicUrl === '' ? [`STORYBAR_PUBLIC_URL ${needed}`] : []),
  ];
  if (faults.length > 0) throw new SettingsError(faults);
}

export function createPeople(settings: Settings, store: Store, logger: Logger): IdentityServices {
  const { smtpUrl, mailFrom, publicUrl, operatorEmail } = settings;
  const onMailFailed = (error: unknown): void => logger.warn({ err: error }, 'a mail was not sent');
  const mailer = smtpUrl === '' ? undefined : new SmtpMailer({ url: smtpUrl, from: mailFrom, onFailed: onMailFailed });
  const passwords = new Passwords();
  const throttle = new Throttle(store.limits ?? new LocalLimits());
  const { users, sessions } = store;
  return {
    sessionGuard: new SessionGuard({ sessions, publicUrl }),
    identity: new Identity({ users, passwords, throttle, mailer, publicUrl, operatorEmail, onMailFailed }),
    close: async () => await mailer?.close(),
  };
}

/** What the operator reads at the start until the address they named has a user. */
export async function introduceOperator(
  { operatorEmail, publicUrl }: Settings,
  store: Store,
  url: string,
): Promise<string> {
  if (operatorEmail === '') return '';
  const user = await store.users.findByEmail(operatorEmail);
  if (user?.role === 'operator') return '';
  // Whoever signed up with the address before may be somebody else, so it is not enough to have it.
  if (user !== undefined) return `${operatorEmail} is no operator yet: npx storybar users promote ${operatorEmail}\n\n`;
  const link = { email: operatorEmail, role: 'operator', accountId: null } as const;
  const address = await makePasswordLink(store, link, publicUrl || url, 'system');
  return `Choose the password of the operator ${operatorEmail} here, within a day:\n\n  ${address}\n\n`;
}
