// Wires up sign-in for the site: sessions, passwords, emails and the first operator.

import { type Settings, SettingsError } from '../service/config/settings.ts';
import { CreditEmails } from '../site/plan/credit-emails.ts';
import { SessionGuard } from '../site/identity/session-guard.ts';
import { Identity } from '../site/identity/identity.ts';
import { Passwords } from '../site/identity/passwords.ts';
import { TwoFactor } from '../site/identity/two-factor.ts';
import { PasskeySignIn } from '../site/identity/passkey-sign-in.ts';
import { Throttle } from '../site/identity/throttle.ts';
import type { ProviderSignIn } from '../site/providers/provider-sign-in.ts';
import { type Mailer, SmtpMailer } from '../service/mail/mailer.ts';
import { PeriodicTasks } from './periodic-tasks.ts';
import type { ServerParts } from './server-parts.ts';
import { createProviderSignIn } from './sign-in-clients.ts';

const CREDIT_EMAILS_MS = 10_000;

export interface IdentityServices {
  readonly sessionGuard: SessionGuard;
  readonly identity: Identity;
  /** Undefined without an SMTP server. */
  readonly mailer: Mailer | undefined;
  readonly twoFactor: TwoFactor;
  readonly passkeySignIn: PasskeySignIn;
  readonly providerSignIn: ProviderSignIn;
  /** Waits for emails that are being sent. Call it before the store is closed. */
  readonly close: () => Promise<void>;
}

type EmailSettings = Pick<Settings, 'smtpUrl' | 'mailFrom' | 'publicUrl'>;

/** Links in emails need a configured base URL, because the host header of a request can be forged. */
export function assertEmailSettings({ smtpUrl, mailFrom, publicUrl }: EmailSettings): void {
  if (smtpUrl === '') return;
  const reason = 'is required when STORYBAR_SMTP_URL is set';
  const faults = [
    ...(mailFrom === '' ? [`STORYBAR_MAIL_FROM ${reason}`] : []),
    ...(publicUrl === '' ? [`STORYBAR_PUBLIC_URL ${reason}`] : []),
  ];
  if (faults.length > 0) throw new SettingsError(faults);
}

export function wireIdentity(parts: ServerParts): IdentityServices {
  const { settings, store, plans, limits, logger } = parts;
  const metrics = parts.metrics.dependencies;
  const { smtpUrl, mailFrom, publicUrl, operatorEmail } = settings;
  const { users, sessions } = store;
  const mailer = smtpUrl === '' ? undefined : new SmtpMailer({ url: smtpUrl, from: mailFrom });
  const counted: Mailer | undefined = mailer && {
    send: async (email) => {
      await mailer.send(email);
      metrics.mail('sent');
    },
  };
  const passwords = new Passwords();
  const throttle = new Throttle(limits);
  const identity = new Identity({
    users,
    passwords,
    throttle,
    mailer: counted,
    publicUrl,
    operatorEmail,
    trustsSignUps: settings.signUp === 'trusted',
    onEmailFailed: (error, purpose, requestId) => {
      metrics.mail('failed');
      logger.warn({ requestId, purpose, err: error }, 'email not sent');
    },
  });
  const tasks = new PeriodicTasks(logger, metrics);
  if (counted !== undefined) {
    const creditEmails = new CreditEmails({
      notices: store.creditNotices,
      plans,
      mailer: counted,
      publicUrl,
      onFailed: (error, { accountId, userId, percent }) => {
        metrics.mail('failed');
        logger.warn({ accountId, userId, percent, err: error }, 'email about used credits not sent');
      },
    });
    tasks.every(CREDIT_EMAILS_MS, 'send emails about used credits', async () => await creditEmails.send());
  }
  return {
    sessionGuard: new SessionGuard({ sessions, incidents: store.incidents, publicUrl }),
    identity,
    mailer: counted,
    twoFactor: new TwoFactor({ users, factors: store.secondFactors, throttle }),
    passkeySignIn: new PasskeySignIn({ users, passkeys: store.passkeys, throttle }),
    providerSignIn: createProviderSignIn(settings, store, logger, throttle),
    close: async () => {
      tasks.stop();
      await identity.close();
      mailer?.close();
    },
  };
}
