// The connection to NATS: a bounded queue of tickets in memory, with one consumer for images and one for videos. NATS
// may be unavailable at startup or at any time. The connection is retried until it is back, and lost streams are
// recreated.

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
import { AppError } from '../../../../shared/errors.ts';
import type { AssetKind } from '../../../../engine/media/sniff.ts';
import { ASYNC_BUDGET_MS } from '../../renderer.ts';
import { connectionOptions, isAuthError, isForbidden, type QueueAccess, type BrokerRole } from './queue-access.ts';
import { QueueUnavailable } from './queue-unavailable.ts';
import { CONSUMERS, STREAM, type Ticket, ticketSubject } from './wire.ts';

export interface BrokerOptions {
  readonly access: QueueAccess;
  /**
   * Determines the name of the connection and the inbox prefix, so permissions can keep workers from API servers'
   * inboxes.
   */
  readonly role: BrokerRole;
  readonly onConnected: () => void;
  readonly onDisconnected: () => void;
  readonly onError: (error: unknown) => void;
}

/** After this long without a heartbeat, NATS redelivers a worker's ticket. */
const ACK_WAIT_MS = 4_000;
/** A ticket survives three late heartbeats. */
export const HEARTBEAT_MS = 1_000;
export const MAX_DELIVER = 3;
/** The limit of tickets of all API servers, including those that workers hold, which take a few megabytes in total. */
const MAX_TICKETS = 20_000;
const REQUEST_TIMEOUT_MS = 2_000;
/** How long publishing is retried while the queue has no leader. Electing one took up to 8 seconds in tests. */
const PUBLISH_RETRY_MS = 20_000;
const PUBLISH_RETRY_INTERVAL_MS = 100;
/** Shorter interruptions don't count, because the client connects to the next server of a cluster immediately. */
const UNREACHABLE_AFTER_MS = 2_000;
/** JetStream's error code for a full queue. */
const STORE_FAILED = 10_077;
const STREAM_NAME_IN_USE = 10_058;
/** The time between two attempts to connect for the first time. */
const CONNECT_RETRY_INTERVAL_MS = 1_000;

const KINDS = ['image', 'video'] as const satisfies readonly AssetKind[];

interface BrokerConnection {
  readonly connection: NatsConnection;
  readonly client: JetStreamClient;
  readonly streams: JetStreamManager;
}

export interface QueueDepth {
  /** Tickets that no worker has taken. */
  readonly waiting: number;
  /** Tickets that a worker holds. */
  readonly taken: number;
}

export class Broker {
  readonly #options: BrokerOptions;
  readonly #started: Promise<void>;
  #link: BrokerConnection | undefined;
  #isConnected = false;
  #closing = false;
  #disconnectedAt = Number.NEGATIVE_INFINITY;
  #isPreparing = false;
  #lastError: string | undefined;

  constructor(options: BrokerOptions) {
    this.#options = options;
    this.#started = this.#start();
  }

  get isConnected(): boolean {
    return this.#isConnected;
  }

  /** Returns true while disconnected for longer than it takes to find another server of a cluster. */
  get isUnreachable(): boolean {
    return !this.#isConnected && performance.now() - this.#disconnectedAt > UNREACHABLE_AFTER_MS;
  }

  /** Resolves with the function that removes the ticket from the queue again. */
  async publish(kind: AssetKind, ticket: Ticket): Promise<() => void> {
    const { seq, streams } = await this.#publishWithRetry(kind, ticket);
    return () => {
      // This fails when a worker has just taken the ticket or NATS is unavailable. Either way the ticket needs no
      // removal.
      streams.streams.deleteMessage(STREAM, seq, false).catch(() => undefined);
    };
  }

  /**
   * A cluster that lost the leader of the queue elects another within seconds. A ticket whose confirmation was lost is
   * then queued twice, and the second one costs a worker a request.
   */
  async #publishWithRetry(
    kind: AssetKind,
    ticket: Ticket,
  ): Promise<{ readonly seq: number; readonly streams: JetStreamManager }> {
    const deadline = performance.now() + PUBLISH_RETRY_MS;
    for (;;) {
      try {
        const { client, streams } = this.#connection();
        const { seq } = await client.publish(ticketSubject(kind), JSON.stringify(ticket), {
          timeout: REQUEST_TIMEOUT_MS,
        });
        return { seq, streams };
      } catch (error) {
        if (error instanceof JetStreamApiError && error.code === STORE_FAILED) {
          const message = 'All render slots are busy and the queue is full. Try again shortly.';
          throw new AppError('overloaded', message, { retryAfterSeconds: 2, cause: error });
        }
        if (this.isUnreachable || performance.now() > deadline) throw unreachable(error);
      }
      await this.#prepareAgain();
    }
  }

  /** NATS may just have restarted without the stream. Runs once for all publishers that wait. */
  async #prepareAgain(): Promise<void> {
    if (!this.#isPreparing) {
      this.#isPreparing = true;
      this.prepare()
        // The next attempt to publish fails with the same error and reports it.
        .catch(() => undefined)
        .finally(() => {
          this.#isPreparing = false;
        });
    }
    await new Promise((resolve) => setTimeout(resolve, PUBLISH_RETRY_INTERVAL_MS));
  }

  /** Creates the stream and its consumers if they are missing. Workers without that permission rely on API servers. */
  async prepare(): Promise<void> {
    await this.#createStream(this.#connection().streams).catch((error: unknown) => {
      if (this.#options.role !== 'worker' || !isForbidden(error)) throw error;
    });
  }

  async #createStream(streams: JetStreamManager): Promise<void> {
    await streams.streams
      .add({
        name: STREAM,
        subjects: KINDS.map(ticketSubject),
        retention: RetentionPolicy.Workqueue,
        storage: StorageType.Memory,
        discard: DiscardPolicy.New,
        max_msgs: MAX_TICKETS,
        max_msg_size: 2_048,
        // After this time, the API server that issued the ticket has given up on it.
        max_age: nanos(ASYNC_BUDGET_MS),
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
    return await this.#connection().client.consumers.get(STREAM, CONSUMERS[kind]);
  }

  async depth(kind: AssetKind): Promise<QueueDepth> {
    const { num_pending: waiting, num_ack_pending: taken } = await this.#connection().streams.consumers.info(
      STREAM,
      CONSUMERS[kind],
    );
    return { waiting, taken };
  }

  /** Sends a plain message to the current subscribers, without any guarantee. */
  announce(subject: string, message: object): void {
    if (this.#isConnected) this.#link?.connection.publish(subject, JSON.stringify(message));
  }

  /** Subscribes to a subject. The subscription survives reconnections. */
  async subscribe(subject: string, onMessage: (bytes: Uint8Array) => void): Promise<void> {
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

  #connection(): BrokerConnection {
    if (this.#link === undefined || !this.#isConnected) throw unreachable(undefined);
    return this.#link;
  }

  async #start(): Promise<void> {
    for (;;) {
      if (this.#closing) return;
      try {
        const connection = await connect(connectionOptions(this.#options.access, this.#options.role));
        if (this.#closing) return await connection.close();
        // The check would need permissions that workers don't have.
        const streams = await jetstreamManager(connection, { checkAPI: false, timeout: REQUEST_TIMEOUT_MS });
        this.#link = { connection, client: jetstream(connection, { timeout: REQUEST_TIMEOUT_MS }), streams };
        this.#watch(connection).catch(this.#options.onError);
        return await this.#onConnected();
      } catch (error) {
        this.#reportOnce(error);
        await new Promise((resolve) => setTimeout(resolve, CONNECT_RETRY_INTERVAL_MS));
      }
    }
  }

  async #watch(connection: NatsConnection): Promise<void> {
    for await (const status of connection.status()) {
      if (status.type === 'disconnect') {
        this.#isConnected = false;
        this.#disconnectedAt = performance.now();
        if (!this.#closing) this.#options.onDisconnected();
      } else if (status.type === 'reconnect') {
        await this.#onConnected();
      } else if (status.type === 'error' && isAuthError(status.error)) {
        this.#reportOnce(status.error);
      }
    }
  }

  /** Reports an error once, however often the connection is retried. */
  #reportOnce(error: unknown): void {
    const message = error instanceof Error ? error.message : String(error);
    if (message !== this.#lastError) this.#options.onError(error);
    this.#lastError = message;
  }

  async #onConnected(): Promise<void> {
    this.#isConnected = true;
    this.#lastError = undefined;
    await this.prepare().catch(this.#options.onError);
    this.#options.onConnected();
  }
}

/** A stream that the operator has created, with other settings, is used as it is. */
function ignoreExisting(error: unknown): void {
  if (!(error instanceof JetStreamApiError && error.code === STREAM_NAME_IN_USE)) throw error;
}

function unreachable(cause: unknown): QueueUnavailable {
  return new QueueUnavailable('Render workers are unreachable. Try again shortly.', cause);
}
