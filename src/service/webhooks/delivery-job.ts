// One attempt to deliver a webhook, as a job of the runner: sends it and writes how it ended.

import { retryDelayMs } from '../account/webhook-schedule.ts';
import type { JobControl, LeasedJob } from '../renders/leased-runner.ts';
import type { AttemptResult, ClaimedDelivery, WebhookAttempt } from '../store/webhooks/webhook.ts';
import type { WebhookDeliveries } from '../store/webhooks/webhook-deliveries.ts';
import type { Logger } from '../telemetry/logger.ts';
import type { WebhookMetrics } from '../telemetry/webhook-metrics.ts';
import type { WebhookSender } from './webhook-sender.ts';

export interface DeliveryJobDependencies {
  readonly deliveries: WebhookDeliveries;
  readonly sender: Pick<WebhookSender, 'send'>;
  readonly metrics: WebhookMetrics;
  readonly logger: Logger;
}

const GONE = 410;

/** Its lease outlasts an attempt, so it isn't renewed. */
export class DeliveryJob implements LeasedJob {
  readonly id: string;
  readonly entry: LeasedJob['entry'];
  readonly #dependencies: DeliveryJobDependencies;
  readonly #claimed: ClaimedDelivery;

  constructor(dependencies: DeliveryJobDependencies, claimed: ClaimedDelivery) {
    const { id, accountId, endpointId } = claimed.delivery;
    this.id = id;
    this.entry = { deliveryId: id, accountId, endpointId };
    this.#dependencies = dependencies;
    this.#claimed = claimed;
  }

  async run(control: JobControl): Promise<void> {
    const { deliveries, sender, logger } = this.#dependencies;
    try {
      const attempt = await sender.send(this.#claimed, control.signal);
      await this.#end(attempt, control);
    } catch (error) {
      if (control.signal.aborted) await deliveries.giveBack(this.#claimed).catch(() => undefined);
      else logger.warn({ ...this.entry, err: error }, 'webhook attempt not written, left to its lease');
    }
  }

  async #end(attempt: WebhookAttempt, { write }: JobControl): Promise<void> {
    const { deliveries, metrics, logger } = this.#dependencies;
    const { delivery } = this.#claimed;
    const result = resultOf(this.#claimed, attempt);
    const entry = {
      ...this.entry,
      type: delivery.type,
      host: new URL(delivery.url).host,
      status: attempt.status,
      ms: Math.round(attempt.durationMs),
      attempt: delivery.attempts + 1,
    };
    const { isWritten, disabled } = await write(
      async () => await deliveries.endAttempt(this.#claimed, attempt, result),
    );
    if (!isWritten) {
      logger.info(entry, 'webhook canceled or taken over');
      return;
    }
    metrics.attempted(result.kind);
    if (result.kind === 'succeeded') logger.info(entry, 'webhook delivered');
    else if (result.kind === 'retry') {
      logger.info({ ...entry, error: attempt.error, delayMs: result.delayMs }, 'webhook failed, retrying later');
    } else logger.warn({ ...entry, error: attempt.error }, 'webhook given up');
    if (disabled === undefined) return;
    metrics.disabled(disabled);
    logger.warn({ ...this.entry, reason: disabled }, 'webhook endpoint disabled');
  }
}

function resultOf({ delivery }: ClaimedDelivery, { status, error }: WebhookAttempt): AttemptResult {
  if (error === undefined) return { kind: 'succeeded' };
  if (status === GONE) return { kind: 'gone' };
  const delayMs = retryDelayMs(delivery.attempts + 1);
  return delayMs === undefined ? { kind: 'given up' } : { kind: 'retry', delayMs };
}
