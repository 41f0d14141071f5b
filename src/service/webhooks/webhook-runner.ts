// Sends webhooks from this server: turns events of the outbox into deliveries, and sends those that are due.

import { AppError } from '../../shared/errors.ts';
import { LeasedRunner } from '../renders/leased-runner.ts';
import type { RenderEvent } from '../store/renders/render.ts';
import type { Renders } from '../store/renders/renders.ts';
import { DeliveryJob, type DeliveryJobDependencies } from './delivery-job.ts';
import { describeEvent } from './webhook-message.ts';

export interface WebhookRunnerOptions extends DeliveryJobDependencies {
  readonly renders: Pick<Renders, 'find' | 'list' | 'events'>;
  /** Returns the URL at which clients reach this server, for links to results. */
  readonly baseUrl: () => string;
  /** Set by tests. */
  readonly maxSending?: number;
}

export type WebhookRunner = LeasedRunner<DeliveryJob>;

const EVENTS_AT_ONCE = 50;
/** Each delivery takes a connection and little else. The store limits the number per receiver and per account. */
const MAX_SENDING = 256;

export function createWebhookRunner(options: WebhookRunnerOptions): WebhookRunner {
  const { deliveries, logger, maxSending = MAX_SENDING } = options;
  const runner: WebhookRunner = new LeasedRunner({
    name: 'webhooks',
    logger,
    room: (running) => maxSending - running.length,
    claim: async (count) => {
      for (let isMore = true; isMore && !runner.isStopping; ) {
        isMore = await publishPending(options);
        const claimed = await deliveries.claim(count);
        if (claimed.length > 0) return claimed.map((one) => new DeliveryJob(options, one));
      }
      return [];
    },
  });
  return runner;
}

/** Returns whether there may be more events. */
async function publishPending(options: WebhookRunnerOptions): Promise<boolean> {
  const pending = await options.renders.events.pending(EVENTS_AT_ONCE);
  for (const event of pending) await publish(options, event);
  return pending.length === EVENTS_AT_ONCE;
}

async function publish(
  { renders, deliveries, baseUrl, logger }: WebhookRunnerOptions,
  event: RenderEvent,
): Promise<void> {
  const entry = { eventId: event.id, renderId: event.renderId, accountId: event.accountId, type: event.type };
  try {
    const described = await describeEvent(renders, event, baseUrl());
    if (described === undefined) {
      await renders.events.markHandled(event.id);
      logger.debug(entry, 'webhook event skipped, its render was deleted');
      return;
    }
    const added = await deliveries.publish(event, described.message, described);
    if (added !== undefined && added > 0) logger.debug({ ...entry, deliveries: added }, 'webhook event published');
  } catch (error) {
    if (error instanceof AppError) throw error;
    // The event would fail again and again, and hold up the events behind it.
    await renders.events.markHandled(event.id);
    logger.error({ ...entry, err: error }, 'webhook event dropped');
  }
}
