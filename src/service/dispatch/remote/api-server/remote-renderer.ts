// Renders on workers on other machines. The API server opens a session for each asset, puts tickets for it on the queue, and
// gives the workers that claim them steps and files through its internal listener.

import { AppError } from '../../../../shared/errors.ts';
import type { AssetKind } from '../../../../engine/media/sniff.ts';
import { BoundedMap } from '../../../../shared/bounded-map.ts';
import {
  assertSomeRoom,
  type Lease,
  type LeaseRequest,
  type PoolStatus,
  type Renderer,
  type RendererStatus,
} from '../../renderer.ts';
import type { TaskType } from '../../tasks.ts';
import { parsePresence, type Presence } from '../../reports.ts';
import { Broker, type QueueDepth } from '../shared/broker.ts';
import type { QueueAccess } from '../shared/queue-access.ts';
import { QueueUnavailable } from '../shared/queue-unavailable.ts';
import { Tokens } from '../shared/tokens.ts';
import { PRESENCE_SUBJECTS } from '../shared/wire.ts';
import { PROTOCOL, speaksOurProtocol } from '../shared/protocol.ts';
import { InternalListener } from './internal-listener.ts';
import { maxOutputBytes } from './output-limit.ts';
import { createPermits, type Permits } from './permits.ts';
import type { RemoteEvent } from './remote-event.ts';
import { type LeaseHost, RemoteLease } from './remote-lease.ts';
import { SessionRegistry } from './session-registry.ts';
import type { RenderSession, TicketIssuer } from './session.ts';
import { WorkerRegistry } from './worker-registry.ts';

export interface RemoteOptions {
  /** The version of this program, for workers' logs. */
  readonly version: string;
  readonly queue: QueueAccess;
  readonly listen: { readonly host: string; readonly port: number };
  /** Returns the address at which workers reach the internal listener, given its port. */
  readonly urlOf: (port: number) => string;
  /** The number of renders of this API server that may wait for a slot, for images and videos each. */
  readonly maxWaiting: number;
  /**
   * The longest time that a client waits. Tickets and steps expire after it. The worker itself notices when one of its
   * processes hangs, because only the worker knows how much processor time the process got.
   */
  readonly longestMs: number;
  /** The largest output that is accepted from a worker. */
  readonly maxOutputBytes: number;
  readonly onError: (error: unknown) => void;
  /** Called for logs and metrics. */
  readonly onEvent: (event: RemoteEvent) => void;
}

const MAX_INCOMPATIBLE = 1_000;
const CHECK_INTERVAL_MS = 1_000;
/** When the broker or all workers have been unavailable for this long, renders stop waiting for them. */
const UNAVAILABLE_GRACE_MS = 5_000;
/** After this time, NATS would have redelivered a ticket that a worker took and dropped. */
const TICKET_LOST_MS = 6_000;
const KINDS = ['image', 'video'] as const satisfies readonly AssetKind[];
const EMPTY_QUEUE: QueueDepth = { waiting: 0, taken: 0 };

export class RemoteRenderer implements Renderer {
  readonly #options: RemoteOptions;
  readonly #tokens = new Tokens();
  readonly #broker: Broker;
  readonly #listener: InternalListener;
  readonly #registry = new WorkerRegistry();
  readonly #sessions = new SessionRegistry();
  readonly #permits: Readonly<Record<AssetKind, Permits>>;
  /** The time at which a worker claimed the session's first ticket. */
  readonly #claimedAt = new WeakMap<RenderSession, number>();
  readonly #check: NodeJS.Timeout;
  readonly #unavailableSince: Record<AssetKind, number | undefined> = { image: undefined, video: undefined };
  readonly #depth: Record<AssetKind, QueueDepth> = { image: EMPTY_QUEUE, video: EMPTY_QUEUE };
  readonly #lost: Record<AssetKind, number> = { image: 0, video: 0 };
  /** Workers of another protocol that were reported. The map is bounded because workers choose their own names. */
  readonly #incompatible = new BoundedMap<string, number | undefined>(MAX_INCOMPATIBLE);
  #lastPresenceError: string | undefined;
  #url = '';

  private constructor(options: RemoteOptions) {
    this.#options = options;
    const permits = (kind: AssetKind): Permits =>
      createPermits(kind, () => this.#registry.capacity(kind).open, options.maxWaiting);
    this.#permits = { image: permits('image'), video: permits('video') };
    this.#listener = new InternalListener({
      tokens: this.#tokens,
      findSession: (id) => this.#sessions.find(id),
      outputOf: (session) => this.#sessions.outputOf(session),
      onError: options.onError,
    });
    this.#broker = new Broker({
      access: options.queue,
      role: 'api-server',
      onConnected: () => {
        options.onEvent({ type: 'connected' });
        // The broker may have lost all tickets. One too many costs a worker a request, and one too few costs a render.
        for (const session of this.#sessions.all()) if (session.isWaiting) session.issueTicket();
      },
      onDisconnected: () => options.onEvent({ type: 'disconnected' }),
      onError: options.onError,
    });
    this.#broker.subscribe(PRESENCE_SUBJECTS, (bytes) => this.#onPresence(bytes)).catch(options.onError);
    this.#check = setInterval(() => this.#checkFleet(), CHECK_INTERVAL_MS);
    this.#check.unref();
  }

  static async start(options: RemoteOptions): Promise<RemoteRenderer> {
    const renderer = new RemoteRenderer(options);
    try {
      renderer.#url = options.urlOf(await renderer.#listener.listen(options.listen.port, options.listen.host));
      return renderer;
    } catch (error) {
      // An open connection to the broker would keep the process alive.
      await renderer.close();
      throw error;
    }
  }

  /** Returns false while it is known that no worker would take a render of this kind. */
  isAvailable(kind: AssetKind): boolean {
    return this.#broker.isConnected && this.#registry.capacity(kind).open > 0;
  }

  open(request: LeaseRequest): Lease {
    assertSomeRoom(this, request.account);
    return new RemoteLease(this.#host, request);
  }

  refusal(account: string, kind: AssetKind): AppError | undefined {
    return this.#permits[kind].refusal(account);
  }

  status(): RendererStatus {
    return {
      images: this.#poolStatus('image'),
      videos: this.#poolStatus('video'),
      codecs: this.#registry.codecs(),
      remote: {
        isConnected: this.#broker.isConnected,
        workers: { images: this.#registry.capacity('image').workers, videos: this.#registry.capacity('video').workers },
        queue: { images: this.#depth.image, videos: this.#depth.video },
      },
    };
  }

  async close(): Promise<void> {
    clearInterval(this.#check);
    const reason = new AppError('shutting_down', 'The service is shutting down. Try again shortly.');
    for (const kind of KINDS) this.#permits[kind].rejectWaiting(reason);
    for (const session of this.#sessions.all()) session.close();
    await this.#listener.close();
    await this.#broker.close();
  }

  get #host(): LeaseHost {
    return {
      permits: this.#permits,
      sessions: this.#sessions,
      limitMs: this.#options.longestMs,
      maxOutputBytes: (recipe) => maxOutputBytes(recipe, this.#options.maxOutputBytes),
      issuerFor: (request, step) => this.#ticketIssuer(request, step),
      claimedAt: (session) => this.#claimedAt.get(session),
      assertReachable: () => this.#assertReachable(),
    };
  }

  #assertReachable(): void {
    if (this.#broker.isUnreachable) throw new QueueUnavailable('Render workers are unreachable. Try again shortly.');
  }

  #onPresence(bytes: Uint8Array): void {
    try {
      const presence = parsePresence(bytes);
      if (!speaksOurProtocol(presence)) return this.#reportIncompatible(presence);
      this.#registry.onPresence(presence);
      for (const kind of KINDS) this.#permits[kind].dispatch();
    } catch (error) {
      // Announcements come every second, so the same problem is reported once.
      const message = String(error);
      if (message !== this.#lastPresenceError) this.#options.onError(error);
      this.#lastPresenceError = message;
    }
  }

  /** Workers announce themselves every second, so each is reported once. */
  #reportIncompatible({ worker, protocol, version }: Presence): void {
    if (this.#incompatible.get(worker) === protocol) return;
    this.#incompatible.set(worker, protocol);
    this.#options.onEvent({ type: 'incompatible', worker, theirProtocol: protocol, theirVersion: version });
  }

  #ticketIssuer({ renderId, onAssigned }: LeaseRequest, step: () => TaskType): TicketIssuer {
    return {
      issue: async (session) => {
        const { id, generation, kind } = session;
        const expires = Date.now() + this.#options.longestMs;
        const token = this.#tokens.issue({ purpose: 'ticket', session: id, number: generation }, expires);
        this.#options.onEvent({ type: 'issued' });
        return await this.#broker.publish(kind, {
          apiServer: this.#url,
          session: id,
          generation,
          token,
          expires,
          ...(renderId !== undefined && { renderId }),
          protocol: PROTOCOL,
          version: this.#options.version,
        });
      },
      attemptToken: ({ id }, attempt, validMs) =>
        this.#tokens.issue({ purpose: 'attempt', session: id, number: attempt }, Date.now() + validMs),
      onClaimed: (session, { worker, waitedMs, isFirst }) => {
        if (worker !== undefined) onAssigned?.(worker, step());
        if (!isFirst) return;
        this.#claimedAt.set(session, performance.now());
        const { kind, id } = session;
        this.#options.onEvent({ type: 'claimed', renderId, kind, session: id, worker, waitedMs });
      },
      onAttemptLost: ({ kind, id }, { worker, reason }) => {
        this.#lost[kind] += 1;
        this.#options.onEvent({ type: 'lost', renderId, kind, session: id, worker, reason });
      },
    };
  }

  #poolStatus(kind: AssetKind): PoolStatus {
    const { slots, open, busy } = this.#registry.capacity(kind);
    // Without the broker no worker can get work, however recently it has announced itself.
    const ready = this.#broker.isConnected ? open : 0;
    const waiting = this.#permits[kind].waiting + this.#sessions.waiting(kind).length;
    const { backlogMs } = this.#permits[kind];
    return { workers: slots, ready, busy, waiting, backlogMs, restarts: this.#lost[kind] };
  }

  /** Notices silent workers and lost tickets, and fails waiting renders when there has been no worker for a while. */
  #checkFleet(): void {
    for (const kind of KINDS) {
      if (this.isAvailable(kind)) {
        this.#unavailableSince[kind] = undefined;
        this.#replaceSilentWorkers(kind);
        this.#broker.depth(kind).then(
          (depth) => {
            this.#depth[kind] = depth;
            if (depth.waiting === 0) this.#reissueLostTickets(kind);
          },
          (error: unknown) => this.#options.onError(error),
        );
        continue;
      }
      const now = performance.now();
      this.#unavailableSince[kind] ??= now;
      if (now - this.#unavailableSince[kind] < UNAVAILABLE_GRACE_MS) continue;
      const reason = new QueueUnavailable('No render worker is available. Try again shortly.');
      this.#permits[kind].rejectWaiting(reason);
      for (const session of this.#sessions.waiting(kind)) session.fail(reason);
    }
  }

  /**
   * This happens only while other workers announce themselves. If none does, this API server itself is cut off from the
   * broker.
   */
  #replaceSilentWorkers(kind: AssetKind): void {
    for (const session of this.#sessions.all()) {
      if (session.kind === kind) session.replaceSilentWorkers((worker) => this.#registry.isSilent(worker));
    }
  }

  /**
   * The queue is empty, so tickets of sessions that still wait are lost. Brokers lose some when their leader changes.
   */
  #reissueLostTickets(kind: AssetKind): void {
    for (const session of this.#sessions.waiting(kind)) {
      if (session.unclaimedMs > TICKET_LOST_MS) session.issueTicket();
    }
  }
}
