// A lease on a worker of another machine. It is one session, so that the render runs on the worker that has probed the
// file and still has it. A long video may get more sessions, for its segments.

import { stat } from 'node:fs/promises';
import { type Asset, workerKindFor } from '../../../media/asset.ts';
import type { RenderFile } from '../../../media/render-file.ts';
import type { AssetKind } from '../../../media/sniff.ts';
import { segmentsOf, type VideoSegment } from '../../../media/video/segments/plan.ts';
import { rethrowAsStorageError } from '../../../media/work-area.ts';
import { must } from '../../../primitives/must.ts';
import { type AssetLimits, type AssetProbe, type Recipe, workerKindOf } from '../../../render/compose.ts';
import type { RenderFacts } from '../../../render/render.ts';
import type { VideoRecipe } from '../../../render/video-recipe.ts';
import type { Lease, LeaseRequest, RenderJob } from '../../renderer.ts';
import type { TaskType } from '../../tasks.ts';
import { mayRenderWhole, SegmentedRender, type SegmentHost } from '../segments/segmented-render.ts';
import type { SegmentEvent } from '../segments/segment-event.ts';
import { type RemoteAsset, remoteFile, type RenderStep } from '../shared/control-messages.ts';
import type { Permits, PermitPlace } from './permits.ts';
import type { SessionRegistry } from './session-registry.ts';
import type { RenderSession, StepRequest, TicketIssuer } from './session.ts';

/** The parts of the API server that a lease needs. */
export interface LeaseHost {
  readonly permits: Readonly<Record<AssetKind, Permits>>;
  readonly sessions: SessionRegistry;
  /** The maximum duration of a step. */
  readonly limitMs: number;
  /** Videos at least twice as long are cut into segments of about this length. 0 disables segments. */
  readonly segmentSeconds: number;
  readonly maxOutputBytes: (recipe: Recipe) => number;
  readonly issuerFor: (request: LeaseRequest, step: () => TaskType) => TicketIssuer;
  /** Returns when a worker claimed the session's first ticket. */
  readonly claimedAt: (session: RenderSession) => number | undefined;
  readonly onEvent: (event: SegmentEvent) => void;
  /** Throws when the broker has been unavailable for a while. */
  readonly assertReachable: () => void;
  /** Returns how many workers may share a long video, one of which has the file already. */
  readonly lanesFor: (asset: Asset, hasWorker: boolean) => number;
  readonly hasIdleWorker: () => boolean;
  /** Returns true while other videos wait for a worker. */
  readonly isCrowded: (asset: Asset) => boolean;
}

interface SplitRender {
  readonly recipe: VideoRecipe;
  readonly asset: Asset;
  readonly segments: readonly VideoSegment[];
  readonly lanes: number;
  readonly files: readonly RenderFile[];
}

type OnProgress = (fraction: number) => void;

export class RemoteLease implements Lease {
  readonly #host: LeaseHost;
  readonly #request: LeaseRequest;
  #held: { readonly kind: AssetKind; readonly place: PermitPlace } | undefined;
  #session: RenderSession | undefined;
  #step: TaskType = 'probe';

  constructor(host: LeaseHost, request: LeaseRequest) {
    this.#host = host;
    this.#request = request;
  }

  /**
   * This also succeeds while NATS is unavailable, because until the form is complete, the request may still turn out to
   * be asynchronous.
   */
  choose(kind: AssetKind): void {
    const refusal = this.#host.permits[kind].refusal(this.#request.account);
    if (refusal) throw refusal;
  }

  enter(kind: AssetKind): void {
    this.#host.assertReachable();
    const { place } = this.#hold(kind);
    if (!place.isEntered) place.enter();
  }

  async probe(asset: Asset, limits: AssetLimits): Promise<AssetProbe> {
    const kind = workerKindFor(asset);
    this.enter(kind);
    this.#step = 'probe';
    const session = await this.#sessionFor(asset);
    const step = { type: 'probe', asset: remoteAsset(asset), limits } as const;
    return await session.probe({ step, limitMs: this.#host.limitMs }, this.#request.signal);
  }

  /** A session whose worker is connected needs no broker, so only opening another one fails without it. */
  async render(job: RenderJob, onProgress?: OnProgress): Promise<RenderFacts> {
    const { place } = this.#hold(workerKindOf(job.recipe));
    // The render is charged once, however many workers share it.
    place.charge(job.recipe);
    this.#step = 'render';
    const split = this.#splitOf(job);
    if (!split) return await this.#renderWhole(job, onProgress);
    const { renderId, account, signal } = this.#request;
    this.#host.onEvent({ type: 'split', renderId, segments: split.segments.length, workers: split.lanes });
    try {
      return await this.#renderSplit(split, job.output, onProgress);
    } catch (error) {
      signal.throwIfAborted();
      if (!mayRenderWhole(error)) throw error;
      this.#host.onEvent({ type: 'unsplit', renderId, accountId: account, err: error });
      return await this.#renderWhole(job, onProgress);
    }
  }

  /** Several machines may share a video, so only its deadline tells. */
  assertFeasible(): void {}

  leave(): void {
    this.#closeSession();
    this.#held?.place.leave();
  }

  close(): void {
    this.#held?.place.close();
    this.leave();
  }

  #closeSession(): void {
    if (this.#session) this.#host.sessions.close(this.#session);
    this.#session = undefined;
  }

  #splitOf({ recipe, asset, files = [] }: RenderJob): SplitRender | undefined {
    const { segmentSeconds, lanesFor } = this.#host;
    if (recipe.kind !== 'video' || !asset || segmentSeconds === 0) return undefined;
    const lanes = lanesFor(asset, this.#session?.hasWorker === true);
    const segments = lanes > 1 ? segmentsOf(recipe, segmentSeconds) : undefined;
    return segments && { recipe, asset, segments, lanes, files };
  }

  async #renderWhole(job: RenderJob, onProgress?: OnProgress): Promise<RenderFacts> {
    const { recipe, asset, output } = job;
    const { sessions, permits, limitMs, maxOutputBytes, claimedAt } = this.#host;
    const session = await this.#sessionFor(asset);
    sessions.expectOutput(session, { file: output, maxBytes: maxOutputBytes(recipe) });
    const request = await stepOf(job);
    const startedAt = performance.now();
    if (session.worker !== undefined) this.#request.onAssigned?.(session.worker, 'render');
    const facts = await session.render({ ...request, limitMs, onProgress }, this.#request.signal);
    // The time doesn't include the wait of the ticket for a worker.
    const workedMs = performance.now() - Math.max(startedAt, claimedAt(session) ?? startedAt);
    permits[session.kind].costs.learn(recipe, workedMs);
    return facts;
  }

  /** Segments are short, so only the first session counts as a long render. */
  async #renderSplit(
    { recipe, asset, segments, lanes, files }: SplitRender,
    output: string,
    onProgress?: OnProgress,
  ): Promise<RenderFacts> {
    const { sessions, limitMs, maxOutputBytes, hasIdleWorker, isCrowded } = this.#host;
    const { place } = this.#hold('video');
    const first = this.#session?.hasWorker === true ? this.#session : undefined;
    if (!first) this.leave();
    this.#session = undefined;
    const { renderId } = this.#request;
    const host: SegmentHost = {
      open: async (signal) => await this.#open(place.another(signal), asset),
      expectOutput: (session, file) => sessions.expectOutput(session, { file, maxBytes: maxOutputBytes(recipe) }),
      close: (session) => sessions.close(session),
      hasIdleWorker,
      isCrowded: () => isCrowded(asset),
      onHedged: () => this.#host.onEvent({ type: 'hedged', renderId }),
    };
    const job = { recipe, segments, lanes, files, asset: remoteAsset(asset), output, limitMs, first, onProgress };
    return await new SegmentedRender(job, host, this.#request.signal).run();
  }

  /** Returns the session that the lease has, unless it failed or was left. */
  async #sessionFor(asset: Asset | undefined): Promise<RenderSession> {
    const { kind, place } = must(this.#held, 'the place of a lease');
    if (this.#session?.isClosed) this.leave();
    this.#session ??= await this.#open(place, asset, kind);
    return this.#session;
  }

  async #open(place: PermitPlace, asset: Asset | undefined, kind: AssetKind = 'video'): Promise<RenderSession> {
    this.#host.assertReachable();
    await place.slot();
    const issuer = this.#host.issuerFor(this.#request, () => this.#step);
    return this.#host.sessions.open(kind, asset, place, issuer);
  }

  #hold(kind: AssetKind): { readonly kind: AssetKind; readonly place: PermitPlace } {
    // The worker of a render that is held back is free for others.
    const onHeldBack = (): void => {
      this.#closeSession();
      this.#request.onHeldBack?.();
    };
    this.#held ??= { kind, place: this.#host.permits[kind].place({ ...this.#request, onHeldBack }) };
    return this.#held;
  }
}

/** The step of a render that one worker does, and the files that it sends. */
async function stepOf({
  recipe,
  asset,
  attachment,
  files,
}: RenderJob): Promise<Omit<StepRequest<RenderStep>, 'limitMs'>> {
  const base = { type: 'render', asset: asset && remoteAsset(asset), recipe } as const;
  const attached =
    attachment === undefined ? undefined : { bytes: (await stat(attachment).catch(rethrowAsStorageError)).size };
  return {
    step: { ...base, ...(attached && { attachment: attached }), ...(files && { files: files.map(remoteFile) }) },
    ...(attachment !== undefined && { attachment: [attachment] }),
    ...(files && { files }),
  };
}

function remoteAsset({ format, bytes }: Asset): RemoteAsset {
  return { format, bytes };
}
