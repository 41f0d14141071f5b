// Tells the users of an account by email that one of its webhook endpoints was disabled.

import type { Email, Mailer } from '../../mail/mailer.ts';
import type { Store } from '../../store/store.ts';
import type { WebhookEndpoint } from '../../store/webhooks/webhooks.ts';
import type { Settings } from '../../config/settings.ts';
import type { Logger } from '../../telemetry/logger.ts';

export interface NoticeOptions {
  readonly settings: Pick<Settings, 'publicUrl'>;
  readonly store: Pick<Store, 'webhookEndpoints' | 'users'>;
  /** Undefined when the operator hasn't configured an SMTP server. */
  readonly mailer: Mailer | undefined;
  readonly logger: Logger;
}

/** A notice that can't be sent now is tried again in ten minutes, by any server. */
export async function tellOwners({ settings, store, mailer, logger }: NoticeOptions): Promise<void> {
  for (;;) {
    const endpoint = await store.webhookEndpoints.claimNotice();
    if (endpoint === undefined) return;
    const { id: endpointId, accountId } = endpoint;
    try {
      if (mailer !== undefined) await tell(endpoint, { settings, store, mailer });
      await store.webhookEndpoints.endNotice(endpointId);
    } catch (error) {
      logger.warn(
        { endpointId, accountId, err: error },
        'notice of a disabled webhook endpoint not sent, retrying later',
      );
    }
  }
}

async function tell(
  endpoint: WebhookEndpoint,
  { settings, store, mailer }: Pick<NoticeOptions, 'settings' | 'store'> & { readonly mailer: Mailer },
): Promise<void> {
  const users = await store.users.list(endpoint.accountId);
  for (const { email, unconfirmedEmail } of users) {
    if (unconfirmedEmail === null) await mailer.send(noticeOf(endpoint, email, settings.publicUrl));
  }
}

function noticeOf({ id, url, disabledReason }: WebhookEndpoint, to: string, publicUrl: string): Email {
  const { origin } = new URL(url);
  const reason =
    disabledReason === 'gone'
      ? 'It responded with the status 410 (Gone), which means that it wants no more webhooks.'
      : 'It has not accepted a webhook for five days.';
  return {
    to,
    subject: 'A Storybar webhook endpoint was disabled',
    text:
      `We disabled a webhook endpoint of your account on ${origin}. ${reason}\n\n` +
      'Nothing is sent to it any more. When it works again, enable it and send missed webhooks again:\n\n' +
      `${publicUrl}/dashboard/webhooks/${id}\n`,
  };
}
