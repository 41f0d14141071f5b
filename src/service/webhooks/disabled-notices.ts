// Notifies the users of an account by email that one of its webhook endpoints was disabled.

import { may } from '../account/roles.ts';
import type { Email, Mailer } from '../mail/mailer.ts';
import type { Store } from '../store/store.ts';
import type { User } from '../store/people/user.ts';
import type { WebhookEndpoint } from '../store/webhooks/webhook.ts';
import type { Logger } from '../telemetry/logger.ts';
import { must } from '../../shared/must.ts';

export interface NoticeOptions {
  /** Base URL of the site. */
  readonly publicUrl: string;
  readonly store: Pick<Store, 'webhookEndpoints' | 'users'>;
  /** Undefined when the operator hasn't configured an SMTP server. */
  readonly mailer: Mailer | undefined;
  readonly logger: Logger;
}

/** Sends due notices. A notice that reached no user is retried in ten minutes, by any server, for a day. */
export async function sendDisabledNotices(options: NoticeOptions): Promise<void> {
  const { store, mailer, logger } = options;
  for (;;) {
    const endpoint = await store.webhookEndpoints.claimNotice();
    if (endpoint === undefined) return;
    const { id: endpointId, accountId } = endpoint;
    try {
      if (mailer === undefined || (await tell(endpoint, mailer, options))) {
        await store.webhookEndpoints.endNotice(endpoint);
      }
    } catch (error) {
      logger.warn({ endpointId, accountId, err: error }, 'notice of a disabled webhook endpoint not sent');
    }
  }
}

/**
 * Returns false when every email failed. If at least one user was notified, the notice isn't repeated, because the
 * others would get it again with every attempt.
 */
async function tell(
  endpoint: WebhookEndpoint,
  mailer: Mailer,
  { publicUrl, store, logger }: NoticeOptions,
): Promise<boolean> {
  const { id: endpointId, accountId } = endpoint;
  const users = await store.users.list(accountId);
  const told = users.filter(
    ({ unconfirmedEmail, accountRole }) => unconfirmedEmail === null && may(accountRole, 'develop'),
  );
  let failed = 0;
  for (const user of told) {
    try {
      await mailer.send(noticeOf(endpoint, user, publicUrl));
    } catch (error) {
      failed += 1;
      const ids = { endpointId, accountId, userId: user.id };
      logger.warn({ ...ids, err: error }, 'notice of a disabled webhook endpoint not sent');
    }
  }
  return failed === 0 || failed < told.length;
}

function noticeOf({ id, url, disabledReason, disabledAt = '' }: WebhookEndpoint, user: User, publicUrl: string): Email {
  const { origin } = new URL(url);
  const reason =
    disabledReason === 'gone'
      ? 'It responded with the status 410 (Gone), which means that it wants no more webhooks.'
      : 'It has not accepted a webhook for five days.';
  return {
    id: `webhook-disabled-${id}-${user.id}-${Date.parse(disabledAt)}`,
    to: must(user.email, 'the confirmed address'),
    subject: 'A Storybar webhook endpoint was disabled',
    text:
      `We disabled a webhook endpoint of your account on ${origin}. ${reason}\n\n` +
      'Nothing is sent to it any more. When it works again, enable it and send missed webhooks again:\n\n' +
      `${publicUrl}/dashboard/webhooks/${id}\n`,
  };
}
