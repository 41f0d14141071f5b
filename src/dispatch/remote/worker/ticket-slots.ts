// A worker's slots of one kind: each asks for a ticket when it is free, and only then, so tickets lie on the queue where
// every other worker can take them.

import type { Consumer, JsMsg } from '@nats-io/jetstream';
import type { AssetKind } from '../../../media/sniff.ts';
import type { TicketVerdict } from './step-runner.ts';
import { type Broker, HEARTBEAT_MS, MAX_DELIVER } from '../shared/broker.ts';
import { parseTicket, type Ticket } from '../shared/wire.ts';

export interface SlotOptions {
  readonly kind: AssetKind;
  readonly slots: number;
  /** How many renders could begin now if none ran: a pool that lost a process has one fewer until it is replaced. */
  readonly ready: () => number;
  readonly broker: Broker;
  /** Calls `onRendered` when only the result has still to be handed in: the slot is free for the next. */
  readonly serve: (ticket: Ticket, isRedelivered: boolean, onRendered: () => void) => Promise<TicketVerdict>;
  readonly onError: (error: unknown) => void;
}

/** How long one question for a ticket stays open. At the end of a worker's life this is what it waits for, idle. */
const ASK_MS = 2_000;
const TROUBLE_MS = 250;
const NOT_YET_MS = 20;
/** Before a ticket whose front could not be reached is tried by somebody else. */
const AGAIN_AFTER_MS = 500;

export class TicketSlots {
  readonly #options: SlotOptions;
  readonly #loops: Promise<void>[];
  /** Tickets in hand, those included whose result is on its way back. */
  readonly #inHand = new Set<Promise<void>>();
  #rendering = 0;
  #asking = 0;
  #isDraining = false;

  constructor(options: SlotOptions) {
    this.#options = options;
    this.#loops = Array.from({ length: options.slots }, () => this.#loop());
  }

  get busy(): number {
    return this.#inHand.size;
  }

  /** Takes no new tickets, but for one that is already on its way here; resolves when the last is done. */
  async drain(): Promise<void> {
    this.#isDraining = true;
    await Promise.all(this.#loops);
    await Promise.all(this.#inHand);
  }

  async #loop(): Promise<void> {
    const { broker, kind, slots, ready, onError } = this.#options;
    let consumer: Consumer | undefined;
    while (!this.#isDraining) {
      // Results that cannot be handed in must not pile up.
      const isFull = this.#inHand.size + this.#asking >= slots * 2;
      if (!broker.isConnected || isFull || this.#rendering + this.#asking >= ready()) {
        await pause(NOT_YET_MS);
        continue;
      }
      let message: JsMsg | null = null;
      this.#asking += 1;
      try {
        consumer ??= await broker.consumer(kind);
        message = await ask(consumer);
      } catch (error) {
        consumer = undefined;
        onError(error);
        // A broker that was started anew knows nothing of its queue.
        if (broker.isConnected) await broker.prepare().catch(onError);
        await pause(TROUBLE_MS);
      } finally {
        this.#asking -= 1;
      }
      if (message) await this.#take(message);
    }
  }

  /** Resolves when the slot is free; the ticket may be in hand for a little longer. */
  async #take(message: JsMsg): Promise<void> {
    const ticket = parseTicket(message.data);
    if (ticket === undefined || ticket.expires < Date.now()) return message.term();
    this.#rendering += 1;
    await new Promise<void>((onRendered) => {
      const handled = this.#handle(message, ticket, onRendered).finally(() => {
        this.#inHand.delete(handled);
        onRendered();
      });
      this.#inHand.add(handled);
    });
    this.#rendering -= 1;
  }

  async #handle(message: JsMsg, ticket: Ticket, onRendered: () => void): Promise<void> {
    const heartbeat = setInterval(() => {
      if (this.#options.broker.isConnected) message.working();
    }, HEARTBEAT_MS);
    try {
      const verdict = await this.#options.serve(ticket, message.redelivered, onRendered);
      if (verdict === 'used') message.ack();
      else if (message.info.deliveryCount < MAX_DELIVER) message.nak(AGAIN_AFTER_MS);
      else message.term();
    } catch (error) {
      // A bug of ours. Whoever takes the ticket next may not meet it; after three it is over.
      this.#options.onError(error);
      message.nak(AGAIN_AFTER_MS);
    } finally {
      clearInterval(heartbeat);
    }
  }
}

/** Not longer than it takes: a question asked just before the broker went away is never answered. */
async function ask(consumer: Consumer): Promise<JsMsg | null> {
  let timer: NodeJS.Timeout | undefined;
  let isLate = false;
  const answer = consumer.next({ expires: ASK_MS });
  const late = new Promise<never>((_resolve, reject) => {
    timer = setTimeout(() => {
      isLate = true;
      reject(new Error('the broker does not answer'));
    }, ASK_MS * 2);
  });
  answer.then(
    (message) => isLate && message?.nak(),
    // Told by the race, or too late to matter.
    () => undefined,
  );
  return await Promise.race([answer, late]).finally(() => clearTimeout(timer));
}

async function pause(milliseconds: number): Promise<void> {
  await new Promise((resolve) => setTimeout(resolve, milliseconds));
}
