// The connection to NATS: one queue of tickets in memory, bounded, one consumer for images and one for videos. The broker
// may be away at start or at any time; it is looked for until it is back, and what it forgot is made again.

import {
  AckPolicy,
  type Consumer,
  DiscardPolicy,
  JetStreamApiError,
  type JetStreamClient,
  type JetStreamManager,
  jetstream,
  jetstreamManager,
  RetentionPolicy,
  StorageType,
} from '@nats-io/jetstream';
import { connect, type NatsConnection, nanos } from '@nats-io/transport-node';
import { AppError } from '../../../errors.ts';
import type { AssetKind } from '../../../media/sniff.ts';
import { connectionOptions, isForbidden, isRefusal, type QueueAccess, type BrokerRole } from './queue-access.ts';
import { QueueUnavailable } from './queue-unavailable.ts';
import { CONSUMERS, STREAM, type Ticket, ticketSubject } from './wire.ts';

export interface BrokerOptions {
  readonly access: QueueAccess;
  /** Names the connection, and the inboxes apart: a worker need not be able to read what fronts are told. */
  readonly role: BrokerRole;
  readonly onConnected: () => void;
  readonly onDisconnected: () => void;
  readonly onError: (error: unknown) => void;
}

/** A worker that says nothing for this long has lost its ticket. */
const ACK_WAIT_MS = 4_000;
/** So a ticket survives three beats that came late. */
export const HEARTBEAT_MS = 1_000;
export const MAX_DELIVER = 3;
/** Tickets of all fronts, taken ones included. Small as they are, that is a few megabytes. */
const MAX_TICKETS = 20_000;
/** No ticket is worth anything after that; its front gave up long before. */
const MAX_AGE_MS = 3_600_000;
const REQUEST_TIMEOUT_MS = 2_000;
/** How long a ticket is tried to be put on a queue that nobody answers for; choosing a new leader took up to 8 seconds. */
const PUT_PATIENCE_MS = 20_000;
const PUT_PAUSE_MS = 100;
/** A connection lost for less is not worth refusing anybody: the next server of a cluster is found at once. */
const BLINK_MS = 2_000;
/** The broker's word for a queue that is full. */
const STORE_FAILED = 10_077;
/** Between two tries to reach it for the first time. */
const START_PAUSE_MS = 1_000;

const KINDS = ['image', 'video'] as const satisfies readonly AssetKind[];

interface Link {
  readonly connection: NatsConnection;
  readonly client: JetStreamClient;
  readonly streams: JetStreamManager;
}

export interface QueueDepth {
  /** Tickets that nobody has taken. */
  readonly waiting: number;
  /** Tickets that a worker holds. */
  readonly taken: number;
}

export class Broker {
  readonly #options: BrokerOptions;
  readonly #started: Promise<void>;
  #link: Link | undefined;
  #isConnected = false;
  #closing = false;
  #lostAt = Number.NEGATIVE_INFINITY;
  #isPreparing = false;
  /** Why it cannot be reached, as told last. */
  #trouble: string | undefined;

  constructor(options: BrokerOptions) {
    this.#options = options;
    this.#started = this.#start();
  }

  get isConnected(): boolean {
    return this.#isConnected;
  }

  /** Gone for longer than it takes to find another server of a cluster. */
  get isAway(): boolean {
    return !this.#isConnected && performance.now() - this.#lostAt > BLINK_MS;
  }

  /** Resolves with the function that takes the ticket off the queue again. */
  async publish(kind: AssetKind, ticket: Ticket): Promise<() => void> {
    const { seq, streams } = await this.#put(kind, ticket);
    return () => {
      // Somebody took it in this very moment, or the broker is away and has forgotten it: both are fine.
      streams.streams.deleteMessage(STREAM, seq, false).catch(() => undefined);
    };
  }

  /**
   * Tries for a while: a cluster that lost the leader of the queue chooses another within seconds. A ticket that arrived
   * although nobody said so is there twice then; the second costs a worker a walk.
   */
  async #put(kind: AssetKind, ticket: Ticket): Promise<{ readonly seq: number; readonly streams: JetStreamManager }> {
    const until = performance.now() + PUT_PATIENCE_MS;
    for (;;) {
      try {
        const { client, streams } = this.#reach();
        const { seq } = await client.publish(ticketSubject(kind), JSON.stringify(ticket), {
          timeout: REQUEST_TIMEOUT_MS,
        });
        return { seq, streams };
      } catch (error) {
        if (error instanceof JetStreamApiError && error.code === STORE_FAILED) {
          const message = 'Every render slot is taken and the queue is full. Try again shortly.';
          throw new AppError('overloaded', message, { retryAfterSeconds: 2, cause: error });
        }
        if (this.isAway || performance.now() > until) throw unreachable(error);
      }
      await this.#prepareAgain();
    }
  }

  /** Nobody answers for the queue: perhaps the broker came back a moment ago, without it. Once for all who wait. */
  async #prepareAgain(): Promise<void> {
    if (!this.#isPreparing) {
      this.#isPreparing = true;
      this.prepare()
        // Whoever tries next meets the same trouble, and tells of it.
        .catch(() => undefined)
        .finally(() => {
          this.#isPreparing = false;
        });
    }
    await new Promise((resolve) => setTimeout(resolve, PUT_PAUSE_MS));
  }

  /** Makes what is missing; harmless when nothing is. Workers that may not make streams rely on fronts, who may. */
  async prepare(): Promise<void> {
    await this.#make(this.#reach().streams).catch((error: unknown) => {
      if (this.#options.role !== 'worker' || !isForbidden(error)) throw error;
    });
  }

  async #make(streams: JetStreamManager): Promise<void> {
    await streams.streams
      .add({
        name: STREAM,
        subjects: KINDS.map(ticketSubject),
        retention: RetentionPolicy.Workqueue,
        storage: StorageType.Memory,
        discard: DiscardPolicy.New,
        max_msgs: MAX_TICKETS,
        max_msg_size: 2_048,
        max_age: nanos(MAX_AGE_MS),
        num_replicas: this.#options.access.replicas,
      })
      .catch(ignoreExisting);
    await Promise.all(
      KINDS.map((kind) =>
        streams.consumers.add(STREAM, {
          durable_name: CONSUMERS[kind],
          filter_subject: ticketSubject(kind),
          ack_policy: AckPolicy.Explicit,
          ack_wait: nanos(ACK_WAIT_MS),
          max_deliver: MAX_DELIVER,
          max_ack_pending: MAX_TICKETS,
          max_waiting: MAX_TICKETS,
        }),
      ),
    );
  }

  async consumer(kind: AssetKind): Promise<Consumer> {
    return await this.#reach().client.consumers.get(STREAM, CONSUMERS[kind]);
  }

  async depth(kind: AssetKind): Promise<QueueDepth> {
    const { num_pending: waiting, num_ack_pending: taken } = await this.#reach().streams.consumers.info(
      STREAM,
      CONSUMERS[kind],
    );
    return { waiting, taken };
  }

  /** Plain messages, for whoever listens at that moment. */
  say(subject: string, message: object): void {
    if (this.#isConnected) this.#link?.connection.publish(subject, JSON.stringify(message));
  }

  /** Survives reconnections. */
  async listen(subject: string, onMessage: (bytes: Uint8Array) => void): Promise<void> {
    await this.#started;
    this.#link?.connection.subscribe(subject, {
      callback: (error, message) => {
        if (error) this.#options.onError(error);
        else onMessage(message.data);
      },
    });
  }

  async close(): Promise<void> {
    this.#closing = true;
    this.#isConnected = false;
    await this.#link?.connection.close();
  }

  #reach(): Link {
    if (this.#link === undefined || !this.#isConnected) throw unreachable(undefined);
    return this.#link;
  }

  async #start(): Promise<void> {
    for (;;) {
      if (this.#closing) return;
      try {
        const connection = await connect(connectionOptions(this.#options.access, this.#options.role));
        if (this.#closing) return await connection.close();
        // The check would ask for rights that an account for workers need not have.
        const streams = await jetstreamManager(connection, { checkAPI: false, timeout: REQUEST_TIMEOUT_MS });
        this.#link = { connection, client: jetstream(connection, { timeout: REQUEST_TIMEOUT_MS }), streams };
        this.#watch(connection).catch(this.#options.onError);
        return await this.#onConnected();
      } catch (error) {
        this.#tell(error);
        await new Promise((resolve) => setTimeout(resolve, START_PAUSE_MS));
      }
    }
  }

  async #watch(connection: NatsConnection): Promise<void> {
    for await (const status of connection.status()) {
      if (status.type === 'disconnect') {
        this.#isConnected = false;
        this.#lostAt = performance.now();
        if (!this.#closing) this.#options.onDisconnected();
      } else if (status.type === 'reconnect') {
        await this.#onConnected();
      } else if (status.type === 'error' && isRefusal(status.error)) {
        this.#tell(status.error);
      }
    }
  }

  /** Once, however often it is tried again: a log full of the same line hides the others. */
  #tell(error: unknown): void {
    const trouble = error instanceof Error ? error.message : String(error);
    if (trouble !== this.#trouble) this.#options.onError(error);
    this.#trouble = trouble;
  }

  async #onConnected(): Promise<void> {
    this.#isConnected = true;
    this.#trouble = undefined;
    await this.prepare().catch(this.#options.onError);
    this.#options.onConnected();
  }
}

/** An operator may have made the stream himself, with replicas for instance: his is the better one. */
function ignoreExisting(error: unknown): void {
  const STREAM_NAME_IN_USE = 10_058;
  if (!(error instanceof JetStreamApiError && error.code === STREAM_NAME_IN_USE)) throw error;
}

function unreachable(cause: unknown): QueueUnavailable {
  return new QueueUnavailable('Render workers cannot be reached. Try again shortly.', cause);
}
