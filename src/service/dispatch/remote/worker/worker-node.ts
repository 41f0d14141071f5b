// A render worker on a machine of its own. It takes tickets, renders them with the given renderer, and announces its
// presence.

import { randomUUID } from 'node:crypto';
import type { AssetKind } from '../../../../engine/media/sniff.ts';
import { FileCache } from '../../../../engine/media/file-cache.ts';
import type { WorkArea } from '../../../../engine/media/work-area.ts';
import type { Renderer } from '../../renderer.ts';
import type { Presence } from '../../reports.ts';
import { Broker } from '../shared/broker.ts';
import { PROTOCOL, speaksOurProtocol } from '../shared/protocol.ts';
import type { QueueAccess } from '../shared/queue-access.ts';
import { presenceSubject, type Ticket } from '../shared/wire.ts';
import { ApiServerClient } from './api-server-client.ts';
import { serveTicket, type TicketVerdict } from './step-runner.ts';
import { TicketSlots } from './ticket-slots.ts';

export interface WorkerNodeOptions {
  /** Unique among all workers, at most 64 characters of `\w` and `-`. API servers log it. */
  readonly name: string;
  /** The version of this program, for API servers' logs. */
  readonly version: string;
  readonly queue: QueueAccess;
  readonly slots: Readonly<Record<AssetKind, number>>;
  readonly renderer: Renderer;
  readonly workArea: WorkArea;
  readonly onError: (error: unknown) => void;
  readonly onEvent: (event: WorkerEvent) => void;
}

export type WorkerEvent =
  | ({ readonly type: 'refused'; readonly status: number } & TicketIds)
  | ({ readonly type: 'served'; readonly verdict: TicketVerdict; readonly ms: number } & TicketIds)
  | ({ readonly type: 'again'; readonly err: unknown } & TicketIds)
  | ({
      readonly type: 'incompatible';
      readonly theirProtocol: number | undefined;
      readonly theirVersion: string | undefined;
    } & TicketIds)
  | { readonly type: 'connected' | 'disconnected' };

interface TicketIds {
  readonly renderId: string | undefined;
  readonly session: string;
}

export interface WorkerNodeStatus extends Presence {
  readonly isConnected: boolean;
  /** The numbers of tickets used up, given back to the queue, and rejected by their API server. */
  readonly tickets: { readonly used: number; readonly again: number; readonly refused: number };
}

const PRESENCE_INTERVAL_MS = 1_000;

export class WorkerNode {
  readonly #options: WorkerNodeOptions;
  readonly #broker: Broker;
  readonly #client = new ApiServerClient();
  readonly #files: FileCache;
  readonly #slots: Readonly<Record<AssetKind, TicketSlots>>;
  readonly #presence: NodeJS.Timeout;
  readonly #tickets = { used: 0, again: 0, refused: 0 };
  #isDraining = false;

  constructor(options: WorkerNodeOptions) {
    this.#options = options;
    this.#files = new FileCache(options.workArea);
    this.#broker = new Broker({
      access: options.queue,
      role: 'worker',
      onConnected: () => {
        this.#announce();
        options.onEvent({ type: 'connected' });
      },
      onDisconnected: () => options.onEvent({ type: 'disconnected' }),
      onError: options.onError,
    });
    const slots = (kind: AssetKind): TicketSlots =>
      new TicketSlots({
        kind,
        slots: options.slots[kind],
        ready: () => this.#ready(kind),
        broker: this.#broker,
        serve: (ticket, isRedelivered, onRendered) => this.#serve(ticket, isRedelivered, onRendered),
        onError: options.onError,
      });
    this.#slots = { image: slots('image'), video: slots('video') };
    this.#presence = setInterval(() => this.#announce(), PRESENCE_INTERVAL_MS);
  }

  status(): WorkerNodeStatus {
    return { ...this.#describe(), isConnected: this.#broker.isConnected, tickets: { ...this.#tickets } };
  }

  /** Finishes the tickets it has taken and takes no more. */
  async drain(): Promise<void> {
    this.#isDraining = true;
    this.#announce();
    await Promise.all([this.#slots.image.drain(), this.#slots.video.drain()]);
    clearInterval(this.#presence);
    this.#client.close();
    await this.#files.close();
    await this.#broker.close();
  }

  async #serve(ticket: Ticket, isRedelivered: boolean, onRendered: () => void): Promise<TicketVerdict> {
    const { renderer, workArea, onEvent } = this.#options;
    const { renderId, session, protocol, version } = ticket;
    const ids = { renderId, session };
    if (!speaksOurProtocol(ticket)) {
      onEvent({ type: 'incompatible', ...ids, theirProtocol: protocol, theirVersion: version });
      return 'again';
    }
    const startedAt = performance.now();
    const verdict = await serveTicket(ticket, isRedelivered, randomUUID(), {
      worker: this.#options.name,
      renderer,
      workArea,
      files: this.#files,
      client: this.#client,
      onRendered,
      onRejected: (status) => {
        this.#tickets.refused += 1;
        onEvent({ type: 'refused', ...ids, status });
      },
      onGivenBack: (err) => onEvent({ type: 'again', ...ids, err }),
    });
    this.#tickets[verdict] += 1;
    onEvent({ type: 'served', ...ids, verdict, ms: performance.now() - startedAt });
    return verdict;
  }

  #describe(): Presence {
    const { codecs } = this.#options.renderer.status();
    return {
      worker: this.#options.name,
      slots: this.#options.slots,
      ready: { image: this.#ready('image'), video: this.#ready('video') },
      busy: { image: this.#slots.image.busy, video: this.#slots.video.busy },
      isDraining: this.#isDraining,
      ...(codecs && { codecs }),
      protocol: PROTOCOL,
      version: this.#options.version,
    };
  }

  #ready(kind: AssetKind): number {
    const { images, videos } = this.#options.renderer.status();
    return kind === 'image' ? images.ready : videos.ready;
  }

  #announce(): void {
    this.#broker.announce(presenceSubject(this.#options.name), this.#describe());
  }
}
