// Renders on machines elsewhere, behind the same interface as here. The front keeps a session per asset, calls workers by
// tickets and hands them bytes and steps through its internal listener.

import { AppError } from '../../../errors.ts';
import type { Asset } from '../../../media/asset.ts';
import type { AssetKind } from '../../../media/sniff.ts';
import type { AssetLimits, AssetProbe, Recipe } from '../../../render/compose.ts';
import type { RenderFacts } from '../../../render/render.ts';
import { segmentsOf } from '../../../render/video-recipe.ts';
import type { QueueEntry } from '../../fair-queue.ts';
import { PROBE_LIMIT_MS } from '../../local-renderer.ts';
import type { PoolStatus, Renderer, RendererStatus, RenderJob, Requester } from '../../renderer.ts';
import { Broker, type QueueDepth } from '../shared/broker.ts';
import { InternalListener } from './internal-listener.ts';
import { createPermits, type Permit, type Permits } from './permits.ts';
import type { QueueAccess } from '../shared/queue-access.ts';
import { QueueUnavailable } from '../shared/queue-unavailable.ts';
import { mayRenderWhole, type SegmentHost, SegmentedRender } from './segmented-render.ts';
import { RenderSession, type TicketIssuer } from './session.ts';
import { Tokens } from '../shared/tokens.ts';
import { type OfferedAsset, PRESENCE_SUBJECTS } from '../shared/wire.ts';
import { WorkerRegistry } from './worker-registry.ts';

export interface RemoteOptions {
  readonly queue: QueueAccess;
  readonly listen: { readonly host: string; readonly port: number };
  /** Where workers reach the listener; given its port. */
  readonly urlOf: (port: number) => string;
  /** Renders of this front that may wait for a slot, images and videos each. */
  readonly maxWaiting: number;
  /** No caller waits longer than this. */
  readonly longestMs: number;
  /** Videos of twice this length or more are cut into segments of about this length; 0: never. */
  readonly segmentSeconds: number;
  readonly onError: (error: unknown) => void;
  /** What happens to tickets, for logs and figures. */
  readonly onEvent: (event: RemoteEvent) => void;
}

export type RemoteEvent =
  | { readonly type: 'claimed'; readonly kind: AssetKind; readonly waitedMs: number }
  | { readonly type: 'lost'; readonly kind: AssetKind; readonly session: string; readonly reason: string }
  | { readonly type: 'split'; readonly segments: number; readonly workers: number }
  | { readonly type: 'unsplit'; readonly accountId: string | undefined; readonly reason: unknown }
  | { readonly type: 'hedged' | 'connected' | 'disconnected' };

/** A worker that has probed an asset stays with it this long: the render nearly always follows at once. */
const LINGER_MS = 300;
/** Workers or a broker that are away this long are not waited for. */
const PATIENCE_MS = 5_000;
const CHECK_MS = 1_000;
/** A ticket that a worker took and dropped is handed out again before that. */
const TICKET_LOST_MS = 6_000;
/** A worker tries twice by itself before it gives up. */
const TRIES_OF_A_WORKER = 2;
const OUTPUT_SLACK_BYTES = 1_000_000;
const KINDS = ['image', 'video'] as const satisfies readonly AssetKind[];
const NO_DEPTH: QueueDepth = { waiting: 0, taken: 0 };

export class RemoteRenderer implements Renderer {
  readonly #options: RemoteOptions;
  readonly #tokens = new Tokens();
  readonly #broker: Broker;
  readonly #listener: InternalListener;
  readonly #registry = new WorkerRegistry();
  readonly #sessions = new Map<string, RenderSession>();
  /** Sessions whose asset has been probed, by its path. */
  readonly #lingering = new Map<string, RenderSession>();
  readonly #permits: Readonly<Record<AssetKind, Permits>>;
  readonly #permitOf = new Map<RenderSession, Permit>();
  /** When a worker claimed the session's first ticket. */
  readonly #claimedAt = new WeakMap<RenderSession, number>();
  readonly #outputs = new Map<RenderSession, { readonly file: string; readonly maxBytes: number }>();
  readonly #check: NodeJS.Timeout;
  readonly #aloneSince: Record<AssetKind, number | undefined> = { image: undefined, video: undefined };
  readonly #depth: Record<AssetKind, QueueDepth> = { image: NO_DEPTH, video: NO_DEPTH };
  readonly #lost: Record<AssetKind, number> = { image: 0, video: 0 };
  #url = '';

  private constructor(options: RemoteOptions) {
    this.#options = options;
    const permits = (kind: AssetKind): Permits =>
      createPermits(kind, () => this.#registry.capacity(kind).open, options.maxWaiting);
    this.#permits = { image: permits('image'), video: permits('video') };
    this.#listener = new InternalListener({
      tokens: this.#tokens,
      find: (id) => this.#sessions.get(id),
      outputOf: (session) => this.#outputs.get(session),
      onError: options.onError,
    });
    this.#broker = new Broker({
      access: options.queue,
      role: 'front',
      onConnected: () => {
        options.onEvent({ type: 'connected' });
        // The broker may have lost every ticket. One too many costs a worker a walk; one too few costs a caller his answer.
        for (const session of this.#sessions.values()) if (session.isWaiting) session.call();
      },
      onDisconnected: () => options.onEvent({ type: 'disconnected' }),
      onError: options.onError,
    });
    this.#broker.listen(PRESENCE_SUBJECTS, (bytes) => this.#hear(bytes)).catch(options.onError);
    this.#check = setInterval(() => this.#lookAround(), CHECK_MS);
    this.#check.unref();
  }

  static async start(options: RemoteOptions): Promise<RemoteRenderer> {
    const renderer = new RemoteRenderer(options);
    try {
      renderer.#url = options.urlOf(await renderer.#listener.listen(options.listen.port, options.listen.host));
      return renderer;
    } catch (error) {
      // Its connection to the queue would keep the program alive, with nobody to end it.
      await renderer.close();
      throw error;
    }
  }

  /** False while it is known that nobody elsewhere would take it up. */
  isAvailable(kind: AssetKind): boolean {
    return this.#broker.isConnected && this.#registry.capacity(kind).open > 0;
  }

  assertRoom(account: string, kind?: AssetKind): void {
    this.#assertReachable();
    if (kind !== undefined) {
      this.#permits[kind].assertRoom(account);
      return;
    }
    try {
      this.#permits.image.assertRoom(account);
    } catch {
      // Only when there is no room for a video either.
      this.#permits.video.assertRoom(account);
    }
  }

  async probe(asset: Asset, limits: AssetLimits, signal: AbortSignal, requester?: Requester): Promise<AssetProbe> {
    const { kind } = asset;
    const session = await this.#open(kind, asset, signal, this.#permits[kind].probeEntry(asset, requester));
    const limitMs = PROBE_LIMIT_MS[kind] * TRIES_OF_A_WORKER;
    const step = { type: 'probe', asset: offerOf(asset), limits } as const;
    const probe = await session.perform<AssetProbe>({ step, limitMs }, signal).catch((error: unknown) => {
      this.#end(session);
      throw error;
    });
    this.#linger(asset.path, session);
    return probe;
  }

  async render(job: RenderJob, signal: AbortSignal, requester?: Requester): Promise<RenderFacts> {
    const { recipe, asset } = job;
    const entry = this.#permits[recipe.kind === 'video' ? 'video' : 'image'].renderEntry(job, requester);
    const offer = asset && offerOf(asset);
    const resumed = this.#resume(asset);
    const lanes = recipe.kind === 'video' && asset ? this.#lanesFor(asset, resumed !== undefined) : 0;
    const segments =
      recipe.kind === 'video' && lanes > 1 ? segmentsOf(recipe, this.#options.segmentSeconds) : undefined;
    if (recipe.kind !== 'video' || !asset || !offer || !segments) {
      return await this.#renderWhole(job, offer, resumed, signal, entry);
    }
    const limitMs = recipe.attemptMs * TRIES_OF_A_WORKER;
    const segmented = { recipe, segments, lanes, asset: offer, output: job.output, limitMs, first: resumed };
    this.#options.onEvent({ type: 'split', segments: segments.length, workers: lanes });
    try {
      return await new SegmentedRender(segmented, this.#segmentHost(asset, mostBytes(recipe), entry), signal).run();
    } catch (error) {
      signal.throwIfAborted();
      if (!mayRenderWhole(error)) throw error;
      this.#options.onEvent({ type: 'unsplit', accountId: entry.account, reason: error });
      return await this.#renderWhole(job, offer, undefined, signal, entry);
    }
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
    const over = new AppError('shutting_down', 'The service is shutting down. Try again shortly.');
    for (const kind of KINDS) this.#permits[kind].rejectWaiting(over);
    for (const session of this.#sessions.values()) session.end();
    await this.#listener.close();
    await this.#broker.close();
  }

  async #renderWhole(
    { recipe, asset, output }: RenderJob,
    offer: OfferedAsset | undefined,
    resumed: RenderSession | undefined,
    signal: AbortSignal,
    entry: QueueEntry,
  ): Promise<RenderFacts> {
    const kind = recipe.kind === 'video' ? 'video' : 'image';
    const session = resumed ?? (await this.#open(kind, asset, signal, entry));
    this.#outputs.set(session, { file: output, maxBytes: mostBytes(recipe) });
    const limitMs = recipe.attemptMs * TRIES_OF_A_WORKER;
    const started = performance.now();
    try {
      const step = { type: 'render', asset: offer, recipe } as const;
      const facts = await session.perform<RenderFacts>({ step, limitMs }, signal);
      // Without the time that the ticket waited for a worker.
      const claimedAt = this.#claimedAt.get(session) ?? started;
      this.#permits[kind].learn(recipe, performance.now() - Math.max(started, claimedAt));
      return facts;
    } finally {
      this.#end(session);
    }
  }

  /** Among how many a long video may be shared out: the machines that are free, and none while others wait. */
  #lanesFor(asset: Asset, hasWorker: boolean): number {
    if (this.#options.segmentSeconds === 0 || this.#isCrowded(asset)) return 0;
    return Math.min(this.#registry.capacity('video').workers, this.#registry.idle('video') + (hasWorker ? 1 : 0));
  }

  /** Videos of others wait for a worker. */
  #isCrowded(asset: Asset): boolean {
    const isOther = (session: RenderSession): boolean => session.kind === 'video' && session.asset?.path !== asset.path;
    return (
      this.#permits.video.waiting > 0 ||
      [...this.#sessions.values()].some((session) => session.isWaiting && isOther(session))
    );
  }

  #segmentHost(asset: Asset, maxBytes: number, entry: QueueEntry): SegmentHost {
    return {
      open: (signal) => this.#open('video', asset, signal, entry),
      expect: (session, file) => void this.#outputs.set(session, { file, maxBytes }),
      end: (session) => this.#end(session),
      hasIdleWorker: () => this.#broker.isConnected && this.#registry.idle('video') > 0,
      isCrowded: () => this.#isCrowded(asset),
      onHedged: () => this.#options.onEvent({ type: 'hedged' }),
    };
  }

  async #open(
    kind: AssetKind,
    asset: Asset | undefined,
    signal: AbortSignal,
    entry: QueueEntry,
  ): Promise<RenderSession> {
    this.#assertReachable();
    const permit = await this.#permits[kind].take(signal, entry);
    const session = new RenderSession(kind, asset, this.#ticketIssuer());
    this.#sessions.set(session.id, session);
    this.#permitOf.set(session, permit);
    return session;
  }

  #assertReachable(): void {
    if (this.#broker.isAway) throw new QueueUnavailable('Render workers cannot be reached. Try again shortly.');
  }

  #hear(bytes: Uint8Array): void {
    this.#registry.onPresence(bytes);
    for (const kind of KINDS) this.#permits[kind].dispatch();
  }

  #linger(path: string, session: RenderSession): void {
    const earlier = this.#lingering.get(path);
    if (earlier) this.#end(earlier);
    this.#lingering.set(path, session);
    setTimeout(() => {
      if (this.#lingering.get(path) !== session) return;
      this.#lingering.delete(path);
      this.#end(session);
    }, LINGER_MS);
  }

  /** The session whose worker has just probed this asset and still holds it. */
  #resume(asset: Asset | undefined): RenderSession | undefined {
    const session = asset && this.#lingering.get(asset.path);
    if (session === undefined) return undefined;
    this.#lingering.delete(asset?.path ?? '');
    if (session.isAttended) return session;
    this.#end(session);
    return undefined;
  }

  #end(session: RenderSession): void {
    session.end();
    this.#sessions.delete(session.id);
    this.#permitOf.get(session)?.();
    this.#permitOf.delete(session);
    this.#outputs.delete(session);
  }

  #ticketIssuer(): TicketIssuer {
    return {
      issue: async (session) => {
        const { id, generation, kind } = session;
        const expires = Date.now() + this.#options.longestMs;
        const token = this.#tokens.issue({ purpose: 'ticket', session: id, number: generation }, expires);
        return await this.#broker.publish(kind, { front: this.#url, session: id, generation, token, expires });
      },
      attemptToken: ({ id }, attempt, validMs) =>
        this.#tokens.issue({ purpose: 'attempt', session: id, number: attempt }, Date.now() + validMs),
      onClaimed: (session, waitedMs) => {
        this.#claimedAt.set(session, performance.now());
        this.#options.onEvent({ type: 'claimed', kind: session.kind, waitedMs });
      },
      onLost: ({ id, kind }, reason) => {
        this.#lost[kind] += 1;
        this.#options.onEvent({ type: 'lost', kind, session: id, reason });
      },
    };
  }

  #poolStatus(kind: AssetKind): PoolStatus {
    const { slots, open, busy } = this.#registry.capacity(kind);
    // Workers that cannot be called are of no use, however lately they were heard.
    const ready = this.#broker.isConnected ? open : 0;
    let called = 0;
    for (const session of this.#sessions.values()) if (session.kind === kind && session.isWaiting) called += 1;
    const { waiting, backlogMs } = this.#permits[kind];
    return { workers: slots, ready, busy, waiting: waiting + called, backlogMs, restarts: this.#lost[kind] };
  }

  /** No ticket lies on the queue, so that of whoever still waits is lost: brokers that change their leader lose some. */
  #callAgain(kind: AssetKind): void {
    for (const session of this.#sessions.values()) {
      if (session.kind === kind && session.unansweredMs > TICKET_LOST_MS) session.call();
    }
  }

  /** Only while others are heard: who hears nobody is deaf himself. */
  #callForHelp(kind: AssetKind): void {
    for (const session of this.#sessions.values()) {
      if (session.kind === kind) session.callForHelp((worker) => this.#registry.isSilent(worker));
    }
  }

  /** Nobody there to take a ticket: soon whoever waits is told, instead of waiting for his deadline. */
  #lookAround(): void {
    for (const kind of KINDS) {
      if (this.isAvailable(kind)) {
        this.#aloneSince[kind] = undefined;
        this.#callForHelp(kind);
        this.#broker.depth(kind).then(
          (depth) => {
            this.#depth[kind] = depth;
            if (depth.waiting === 0) this.#callAgain(kind);
          },
          (error: unknown) => this.#options.onError(error),
        );
        continue;
      }
      const now = performance.now();
      this.#aloneSince[kind] ??= now;
      if (now - this.#aloneSince[kind] < PATIENCE_MS) continue;
      const nobody = new QueueUnavailable('No render worker is there. Try again shortly.');
      this.#permits[kind].rejectWaiting(nobody);
      for (const session of this.#sessions.values()) {
        if (session.kind === kind && session.isWaiting) session.fail(nobody);
      }
    }
  }
}

function offerOf({ format, bytes }: Asset): OfferedAsset {
  return { format, bytes };
}

/** What a finished file can weigh at most: a PNG never exceeds its pixels by much, a video has its own bound. */
function mostBytes(recipe: Recipe): number {
  switch (recipe.kind) {
    case 'transparent':
      return recipe.canvas.width * recipe.canvas.height * 4 + OUTPUT_SLACK_BYTES;
    case 'image':
      return recipe.decode.maxPixels * 4 + OUTPUT_SLACK_BYTES;
    case 'video':
      return recipe.bounds.bytes + OUTPUT_SLACK_BYTES;
  }
}
