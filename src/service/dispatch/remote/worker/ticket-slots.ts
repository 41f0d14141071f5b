// A worker's slots for images or videos. A slot requests a ticket from NATS only when it is free, so tickets stay on
// the queue where any other worker can take them.

import type { Consumer, JsMsg } from '@nats-io/jetstream';
import type { AssetKind } from '../../../../engine/media/sniff.ts';
import { type Broker, HEARTBEAT_MS, MAX_DELIVER } from '../shared/broker.ts';
import { parseTicket, type Ticket } from '../shared/wire.ts';
import type { TicketVerdict } from './step-runner.ts';

export interface SlotOptions {
  readonly kind: AssetKind;
  readonly slots: number;
  /** Returns how many renders could run now, which is fewer than `slots` while a worker process is being replaced. */
  readonly ready: () => number;
  readonly broker: Broker;
  /** Calls `onRendered` when only the result has to be handed in and the slot is free for the next ticket. */
  readonly serve: (ticket: Ticket, isRedelivered: boolean, onRendered: () => void) => Promise<TicketVerdict>;
  readonly onError: (error: unknown) => void;
}

/** How long one pull request to NATS stays open. An idle worker that shuts down waits for this. */
const PULL_TIMEOUT_MS = 2_000;
const ERROR_PAUSE_MS = 250;
const BUSY_PAUSE_MS = 20;
/** The delay before NATS redelivers a ticket whose API server was unreachable. */
const REDELIVER_AFTER_MS = 500;

export class TicketSlots {
  readonly #options: SlotOptions;
  readonly #loops: Promise<void>[];
  /** Tickets being served, including those whose result is being handed in. */
  readonly #serving = new Set<Promise<void>>();
  #rendering = 0;
  #pulling = 0;
  #isDraining = false;

  constructor(options: SlotOptions) {
    this.#options = options;
    this.#loops = Array.from({ length: options.slots }, () => this.#loop());
  }

  get busy(): number {
    return this.#serving.size;
  }

  /** Takes no new tickets, except those that NATS is already delivering. Resolves when the last one is done. */
  async drain(): Promise<void> {
    this.#isDraining = true;
    await Promise.all(this.#loops);
    await Promise.all(this.#serving);
  }

  async #loop(): Promise<void> {
    const { broker, kind, slots, ready, onError } = this.#options;
    let consumer: Consumer | undefined;
    while (!this.#isDraining) {
      // Results that can't be handed in must not pile up.
      const isFull = this.#serving.size + this.#pulling >= slots * 2;
      if (!broker.isConnected || isFull || this.#rendering + this.#pulling >= ready()) {
        await pause(BUSY_PAUSE_MS);
        continue;
      }
      let message: JsMsg | null = null;
      this.#pulling += 1;
      try {
        consumer ??= await broker.consumer(kind);
        message = await pull(consumer);
      } catch (error) {
        consumer = undefined;
        onError(error);
        // A restarted NATS server has lost the stream.
        if (broker.isConnected) await broker.prepare().catch(onError);
        await pause(ERROR_PAUSE_MS);
      } finally {
        this.#pulling -= 1;
      }
      if (message) await this.#take(message);
    }
  }

  /** Resolves when the slot is free. The result of the ticket may still be on its way. */
  async #take(message: JsMsg): Promise<void> {
    const ticket = parseTicket(message.data);
    if (ticket === undefined || ticket.expires < Date.now()) return message.term();
    this.#rendering += 1;
    await new Promise<void>((onRendered) => {
      const served = this.#serve(message, ticket, onRendered).finally(() => {
        this.#serving.delete(served);
        onRendered();
      });
      this.#serving.add(served);
    });
    this.#rendering -= 1;
  }

  async #serve(message: JsMsg, ticket: Ticket, onRendered: () => void): Promise<void> {
    const heartbeat = setInterval(() => {
      if (this.#options.broker.isConnected) message.working();
    }, HEARTBEAT_MS);
    try {
      const verdict = await this.#options.serve(ticket, message.redelivered, onRendered);
      if (verdict === 'used') message.ack();
      else if (message.info.deliveryCount < MAX_DELIVER) message.nak(REDELIVER_AFTER_MS);
      else message.term();
    } catch (error) {
      // This is a bug. Another worker may not run into it, and after the last delivery NATS drops the ticket.
      this.#options.onError(error);
      message.nak(REDELIVER_AFTER_MS);
    } finally {
      clearInterval(heartbeat);
    }
  }
}

/**
 * Pulls with a timeout of its own, because a request sent just before NATS becomes unavailable never gets a response.
 */
async function pull(consumer: Consumer): Promise<JsMsg | null> {
  let timer: NodeJS.Timeout | undefined;
  let isLate = false;
  const pulled = consumer.next({ expires: PULL_TIMEOUT_MS });
  const timedOut = new Promise<never>((_resolve, reject) => {
    timer = setTimeout(() => {
      isLate = true;
      reject(new Error("NATS doesn't respond"));
    }, PULL_TIMEOUT_MS * 2);
  });
  pulled.then(
    (message) => isLate && message?.nak(),
    // The race reports this error, or it is too late to matter.
    () => undefined,
  );
  return await Promise.race([pulled, timedOut]).finally(() => clearTimeout(timer));
}

async function pause(milliseconds: number): Promise<void> {
  await new Promise((resolve) => setTimeout(resolve, milliseconds));
}
