// Wires webhooks: the runner that sends them, their routes, and their periodic tasks.

import type { RouteGroup } from '../service/http/route-group.ts';
import { webhookRoutes } from '../service/http/webhook-routes.ts';
import type { Mailer } from '../service/mail/mailer.ts';
import { isGone } from '../service/store/owner.ts';
import { sendDisabledNotices } from '../service/webhooks/disabled-notices.ts';
import type { WebhookChanges } from '../service/webhooks/webhook-changes.ts';
import { createWebhookRunner } from '../service/webhooks/webhook-runner.ts';
import { WebhookSender } from '../service/webhooks/webhook-sender.ts';
import { PeriodicTasks } from './periodic-tasks.ts';
import type { ServerParts } from './server-parts.ts';

export interface WebhookServices {
  readonly groups: readonly RouteGroup[];
  /** `url` is the server's own address, for links to results if it has no public URL. */
  start(url: string): Promise<void>;
  /** Claims no more webhooks, and gives back those that haven't been sent after `graceMs`. */
  stop(graceMs: number): Promise<void>;
  close(): Promise<void>;
}

const SWEEP_MS = 10_000;
const RELEASE_LOST = 'release lost webhooks';
const NOTICES_MS = 5_000;
const HOUR_MS = 3_600_000;
const KEEP_DAYS = 30;

/** `mailer` is undefined when the operator hasn't configured an SMTP server. */
export function startWebhooks(
  parts: ServerParts,
  changes: WebhookChanges,
  mailer: Mailer | undefined,
): WebhookServices {
  const { settings, store, access, fetcher, metrics, logger, shutdown } = parts;
  let listeningUrl = '';
  const runner = createWebhookRunner({
    renders: store.renders,
    deliveries: store.webhookDeliveries,
    sender: new WebhookSender({ policy: fetcher.policy, userAgent: fetcher.userAgent }),
    metrics: metrics.webhooks,
    logger,
    baseUrl: () => (settings.publicUrl === '' ? listeningUrl : settings.publicUrl),
  });
  metrics.webhooks.watchSending(() => runner.running);
  const tasks = new PeriodicTasks(logger, metrics.dependencies);
  return {
    groups: [webhookRoutes(access.keyRoutes, { changes, wake: () => runner.wake(), shutdown })],
    start: async (url) => {
      listeningUrl = url;
      // The server is listening already, so a failing database must not end it. The task runs again later.
      await tasks.once(RELEASE_LOST, async () => await releaseLost(parts));
      startTasks(tasks, parts, mailer);
      runner.start();
    },
    stop: async (graceMs) => await runner.stop(graceMs),
    close: async () => {
      tasks.stop();
      await runner.stop(0);
    },
  };
}

function startTasks(tasks: PeriodicTasks, parts: ServerParts, mailer: Mailer | undefined): void {
  const { settings, store, logger } = parts;
  const notices = { publicUrl: settings.publicUrl, store, mailer, logger };
  tasks.every(SWEEP_MS, RELEASE_LOST, async () => await releaseLost(parts));
  tasks.every(NOTICES_MS, 'tell owners of disabled webhooks', async () => await sendDisabledNotices(notices));
  tasks.every(HOUR_MS, 'delete old webhooks', async () => {
    // A clock that may be years ahead must not delete anything.
    if (!(await store.ledger.heartbeat()).isTimeTrusted) return;
    const before = new Date(Date.now() - KEEP_DAYS * 24 * HOUR_MS);
    await store.sharedTasks.run('delete old webhooks', HOUR_MS, async () => {
      await store.webhookDeliveries.deleteBefore(before);
    });
  });
}

/** All processes that use an embedded store are on this machine, so dead ones are recognized immediately. */
async function releaseLost({ store, settings, logger }: ServerParts): Promise<void> {
  if (settings.databaseUrl !== '') return;
  const deliveryIds = await store.webhookDeliveries.releaseLost(isGone);
  if (deliveryIds.length > 0) logger.warn({ deliveryIds }, 'took over webhooks of a dead server');
}
