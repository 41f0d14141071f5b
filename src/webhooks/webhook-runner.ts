// Sends webhooks from this server: turns events of the outbox into deliveries, claims those that are due, and writes
// the result of each attempt. Every API server has one runner. Deliveries of a dead server are claimed again when its
// lease has run out.

import { retryDelayMs } from '../account/webhook-schedule.ts';
import { AppError } from '../errors.ts';
import type { RenderEvent } from '../store/renders/render.ts';
import type { Renders } from '../store/renders/renders.ts';
import type { AttemptResult, ClaimedDelivery, WebhookAttempt } from '../store/webhooks/webhook.ts';
import type { WebhookDeliveries } from '../store/webhooks/webhook-deliveries.ts';
import type { Logger } from '../telemetry/logger.ts';
import type { WebhookMetrics } from '../telemetry/webhook-metrics.ts';
import { describeEvent } from './webhook-message.ts';
import type { WebhookSender } from './webhook-sender.ts';
import { repeatWrite } from '../renders/repeat-write.ts';

export interface WebhookRunnerOptions {
  readonly renders: Pick<Renders, 'find' | 'list' | 'events'>;
  readonly deliveries: WebhookDeliveries;
  readonly sender: Pick<WebhookSender, 'send'>;
  readonly metrics: WebhookMetrics;
  readonly logger: Logger;
  /** Returns the URL at which clients reach this server, for links to results. */
  readonly baseUrl: () => string;
  /** Set by tests. */
  readonly maxSending?: number;
}

const POLL_MS = 500;
const EVENTS_AT_ONCE = 50;
/** Each delivery takes a connection and little else. The store limits the number per receiver and per account. */
const MAX_SENDING = 256;
const GONE = 410;

export class WebhookRunner {
  readonly #options: WebhookRunnerOptions;
  readonly #sending = new Set<Promise<void>>();
  readonly #abort = new AbortController();
  #timer: NodeJS.Timeout | undefined;
  #pass: Promise<void> | undefined;
  #isStopping = false;

  constructor(options: WebhookRunnerOptions) {
    this.#options = options;
  }

  get sending(): number {
    return this.#sending.size;
  }

  start(): void {
    this.#timer = setInterval(() => this.wake(), POLL_MS).unref();
    this.wake();
  }

  /** Tells the runner that there may be something to send. */
  wake(): void {
    if (this.#isStopping || this.#pass !== undefined) return;
    this.#pass = this.#run().finally(() => {
      this.#pass = undefined;
    });
  }

  /** Claims nothing more, and gives back deliveries that haven't been sent after `graceMs`. */
  async stop(graceMs: number): Promise<void> {
    this.#isStopping = true;
    clearInterval(this.#timer);
    const abort = setTimeout(() => this.#abort.abort(new Error('the server is shutting down')), graceMs);
    await this.#pass;
    await Promise.all(this.#sending);
    clearTimeout(abort);
  }

  async #run(): Promise<void> {
    try {
      let isMore = true;
      while (isMore && !this.#isStopping) {
        isMore = await this.#publishPending();
        await this.#fill();
      }
    } catch (error) {
      this.#options.logger.warn({ err: error }, 'webhooks not claimed, retrying');
    }
  }

  /** Returns whether there may be more events. */
  async #publishPending(): Promise<boolean> {
    const pending = await this.#options.renders.events.pending(EVENTS_AT_ONCE);
    for (const event of pending) await this.#publish(event);
    return pending.length === EVENTS_AT_ONCE;
  }

  async #publish(event: RenderEvent): Promise<void> {
    const { renders, deliveries, baseUrl, logger } = this.#options;
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

  async #fill(): Promise<void> {
    const { deliveries, maxSending = MAX_SENDING } = this.#options;
    while (!this.#isStopping && this.#sending.size < maxSending) {
      const claimed = await deliveries.claim(maxSending - this.#sending.size);
      if (claimed.length === 0) return;
      for (const one of claimed) this.#begin(one);
    }
  }

  #begin(claimed: ClaimedDelivery): void {
    const sent = this.#deliver(claimed).finally(() => {
      this.#sending.delete(sent);
      // Other deliveries to the same receiver may be due.
      this.wake();
    });
    this.#sending.add(sent);
  }

  /** Never rejects. */
  async #deliver(claimed: ClaimedDelivery): Promise<void> {
    const { deliveries, sender, logger } = this.#options;
    const { id: deliveryId, accountId, endpointId } = claimed.delivery;
    try {
      const attempt = await sender.send(claimed, this.#abort.signal);
      await this.#end(claimed, attempt);
    } catch (error) {
      if (this.#abort.signal.aborted) {
        await deliveries.giveBack(claimed).catch(() => undefined);
        return;
      }
      const entry = { deliveryId, accountId, endpointId, err: error };
      logger.warn(entry, 'webhook attempt not written, left to its lease');
    }
  }

  async #end(claimed: ClaimedDelivery, attempt: WebhookAttempt): Promise<void> {
    const { deliveries, metrics, logger } = this.#options;
    const { id: deliveryId, accountId, endpointId, type, url } = claimed.delivery;
    const result = resultOf(claimed, attempt);
    const entry = {
      deliveryId,
      accountId,
      endpointId,
      type,
      host: new URL(url).host,
      status: attempt.status,
      ms: Math.round(attempt.durationMs),
      attempt: claimed.delivery.attempts + 1,
    };
    const { isWritten, disabled } = await this.#write(
      async () => await deliveries.endAttempt(claimed, attempt, result),
      deliveryId,
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
    logger.warn({ endpointId, accountId, reason: disabled }, 'webhook endpoint disabled');
  }

  /** Repeats a write while the database is unavailable. */
  async #write<Result>(write: () => Promise<Result>, deliveryId: string): Promise<Result> {
    return await repeatWrite(write, {
      isStopping: () => this.#isStopping,
      onFailure: (error) =>
        this.#options.logger.warn({ deliveryId, err: error }, 'webhook attempt write failed, retrying'),
    });
  }
}

function resultOf({ delivery }: ClaimedDelivery, { status, error }: WebhookAttempt): AttemptResult {
  if (error === undefined) return { kind: 'succeeded' };
  if (status === GONE) return { kind: 'gone' };
  const delayMs = retryDelayMs(delivery.attempts + 1);
  return delayMs === undefined ? { kind: 'given up' } : { kind: 'retry', delayMs };
}
