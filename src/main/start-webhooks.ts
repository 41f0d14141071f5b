// Wires webhooks: the runner that sends them, their routes, and their periodic tasks.

import type { Settings } from '../config/settings.ts';
import type { AssetFetcher } from '../fetch/asset-fetcher.ts';
import type { RouteGroup } from '../http/route-group.ts';
import { WebhookRunner } from '../webhooks/webhook-runner.ts';
import { WebhookSender } from '../webhooks/webhook-sender.ts';
import { webhookRoutes, type WebhookRouteDependencies } from '../http/webhook-routes.ts';
import type { Mailer } from '../mail/mailer.ts';
import { isGone } from '../store/owner.ts';
import type { Store } from '../store/store.ts';
import type { Logger } from '../telemetry/logger.ts';
import type { Metrics } from '../telemetry/metrics.ts';
import { PeriodicTasks } from './periodic-tasks.ts';
import { sendDisabledNotices } from '../webhooks/disabled-notices.ts';

export interface WebhooksOptions extends Omit<WebhookRouteDependencies, 'keys' | 'wake'> {
  readonly settings: Settings;
  readonly store: Store;
  readonly fetcher: Pick<AssetFetcher, 'policy' | 'userAgent'>;
  readonly mailer: Mailer | undefined;
  readonly metrics: Metrics;
  readonly logger: Logger;
}

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

export function startWebhooks(options: WebhooksOptions): WebhookServices {
  const { settings, store, fetcher, metrics, logger } = options;
  let listeningUrl = '';
  const runner = new WebhookRunner({
    renders: store.renders,
    deliveries: store.webhookDeliveries,
    sender: new WebhookSender({ policy: fetcher.policy, userAgent: fetcher.userAgent }),
    metrics: metrics.webhooks,
    logger,
    baseUrl: () => (settings.publicUrl === '' ? listeningUrl : settings.publicUrl),
  });
  metrics.webhooks.watchSending(() => runner.sending);
  const tasks = new PeriodicTasks(logger);
  return {
    groups: [webhookRoutes({ ...options, keys: store.keys, wake: () => runner.wake() })],
    start: async (url) => {
      listeningUrl = url;
      // The server is listening already, so a failing database must not end it. The task runs again later.
      await tasks.once(RELEASE_LOST, async () => await releaseLost(options));
      startTasks(tasks, options);
      runner.start();
    },
    stop: async (graceMs) => await runner.stop(graceMs),
    close: async () => {
      tasks.stop();
      await runner.stop(0);
    },
  };
}

function startTasks(tasks: PeriodicTasks, options: WebhooksOptions): void {
  const { store } = options;
  tasks.every(SWEEP_MS, RELEASE_LOST, async () => await releaseLost(options));
  tasks.every(NOTICES_MS, 'tell owners of disabled webhooks', async () => await sendDisabledNotices(options));
  tasks.every(HOUR_MS, 'delete old webhooks', async () => {
    // A clock that may be years ahead must not delete anything.
    if (!(await store.ledger.heartbeat()).isTimeTrusted) return;
    await store.webhookDeliveries.deleteBefore(new Date(Date.now() - KEEP_DAYS * 24 * HOUR_MS));
  });
}

/** All processes that use an embedded store are on this machine, so dead ones are recognized immediately. */
async function releaseLost({ store, settings, logger }: WebhooksOptions): Promise<void> {
  if (settings.databaseUrl !== '') return;
  const deliveryIds = await store.webhookDeliveries.releaseLost(isGone);
  if (deliveryIds.length > 0) logger.warn({ deliveryIds }, 'took over webhooks of a dead server');
}
