// Renders one long video on several workers. Each lane is a session that renders one segment after the other with the
// asset it fetched for the first one. The lane that finishes the last segment joins them all. A segment that takes far
// longer than the others is also given to a second worker, and the first result counts. A lane that fails leaves its
// segment to the others. When no lane is left, the caller can still have one worker render the whole video.

import { stat, unlink } from 'node:fs/promises';
import { AppError } from '../../../errors.ts';
import type { ErrorCode } from '../../../error-table.ts';
import type { RenderFile } from '../../../media/render-file.ts';
import { joinPiece, segmentPiece } from '../../../media/video/segments/work.ts';
import type { VideoSegment } from '../../../media/video/segments/plan.ts';
import type { VideoPiece } from '../../../media/video/transcode-plan.ts';
import { rethrowAsStorageError } from '../../../media/work-area.ts';
import { must } from '../../../primitives/must.ts';
import type { RenderFacts } from '../../../render/render.ts';
import type { VideoRecipe } from '../../../render/video-recipe.ts';
import { type RemoteAsset, remoteFile, type RenderStep } from '../shared/control-messages.ts';
import { SegmentBoard } from './segment-board.ts';
import type { RenderSession, StepRequest } from '../api-server/session.ts';
import { hasCode } from '../../../primitives/error-facts.ts';

export interface SegmentedJob {
  readonly recipe: VideoRecipe;
  readonly segments: readonly VideoSegment[];
  readonly asset: RemoteAsset;
  /** Files that the recipe names. */
  readonly files: readonly RenderFile[];
  readonly output: string;
  /** The time after which a worker counts as lost with a segment. */
  readonly limitMs: number;
  /** The maximum number of workers at a time, not counting second workers for slow segments. */
  readonly lanes: number;
  /** A session whose worker already has the asset. */
  readonly first: RenderSession | undefined;
  /** Called regularly with the part of the video that is encoded, 0 to 1. */
  readonly onProgress?: ((fraction: number) => void) | undefined;
}

/** The parts of the API server that a segmented render needs. */
export interface SegmentHost {
  open(signal: AbortSignal): Promise<RenderSession>;
  /** Sets the destination of the next output of a session. */
  expectOutput(session: RenderSession, file: string): void;
  close(session: RenderSession): void;
  /** Returns true if some worker has a free slot, as far as known. */
  hasIdleWorker(): boolean;
  /** Returns true while other videos wait for a worker. */
  isCrowded(): boolean;
  onHedged(): void;
}

interface Lane {
  readonly cancel: AbortController;
  session: RenderSession | undefined;
  segment: number | undefined;
}

/** Codes of failures of workers or of the queue, not of the video. Another worker may succeed. */
const RETRYABLE_CODES: ReadonlySet<ErrorCode> = new Set(['renderer_unavailable', 'storage_unavailable', 'overloaded']);
const HEDGE_CHECK_MS = 250;

/** Returns false when rendering the video whole would fail in the same way. */
export function mayRenderWhole(error: unknown): boolean {
  return !(error instanceof AppError) || RETRYABLE_CODES.has(error.code);
}

export class SegmentedRender {
  readonly #job: SegmentedJob;
  readonly #host: SegmentHost;
  readonly #board: SegmentBoard;
  readonly #done = new AbortController();
  readonly #signal: AbortSignal;
  readonly #startedAt = performance.now();
  readonly #lanes = new Set<Lane>();
  readonly #running: Promise<void>[] = [];
  /** Every file that may have been created. */
  readonly #files = new Set<string>();
  /** Files of the finished segments, by index. */
  readonly #finished: string[] = [];
  /** The part of each segment that is encoded. */
  readonly #progress: number[];
  #facts: RenderFacts | undefined;
  #joiner: Lane | undefined;
  #settle: { readonly resolve: (facts: RenderFacts) => void; readonly reject: (reason: unknown) => void } | undefined;

  constructor(job: SegmentedJob, host: SegmentHost, signal: AbortSignal) {
    this.#job = job;
    this.#host = host;
    this.#progress = job.segments.map(() => 0);
    this.#board = new SegmentBoard(job.segments.map(({ frames }) => frames));
    this.#signal = AbortSignal.any([signal, this.#done.signal]);
  }

  /** Renders the video. May be called once. Leaves no session open, and no file but the output. */
  async run(): Promise<RenderFacts> {
    const hedging = setInterval(() => this.#hedge(), HEDGE_CHECK_MS);
    try {
      return await new Promise<RenderFacts>((resolve, reject) => {
        this.#settle = { resolve, reject };
        this.#startLane(this.#job.first);
        const lanes = Math.min(this.#job.lanes, this.#job.segments.length);
        for (let lane = 1; lane < lanes; lane += 1) this.#startLane();
      });
    } finally {
      clearInterval(hedging);
      this.#done.abort();
      await Promise.all(this.#running);
      await Promise.all([...this.#files].map(removeFile));
    }
  }

  #startLane(session?: RenderSession, segment?: number): void {
    const lane: Lane = { cancel: new AbortController(), session, segment };
    this.#lanes.add(lane);
    const running = this.#runLane(lane).then(
      (facts) => {
        this.#endLane(lane);
        if (facts) this.#settle?.resolve(facts);
        else if (this.#lanes.size === 0)
          this.#settle?.reject(new Error('all lanes ended without joining the segments'));
      },
      (error: unknown) => {
        this.#endLane(lane);
        if (lane.cancel.signal.aborted) return;
        if (lane.segment !== undefined) this.#board.release(lane.segment);
        const isFinal = !isRetryable(error) || lane === this.#joiner || this.#lanes.size === 0;
        if (isFinal) this.#settle?.reject(error);
      },
    );
    this.#running.push(running);
  }

  #endLane(lane: Lane): void {
    this.#lanes.delete(lane);
    if (lane.session) this.#host.close(lane.session);
  }

  /** Resolves with the facts of the whole video on the lane that joined it, and with `undefined` on all others. */
  async #runLane(lane: Lane): Promise<RenderFacts | undefined> {
    const signal = AbortSignal.any([this.#signal, lane.cancel.signal]);
    lane.session ??= await this.#host.open(signal);
    lane.segment ??= this.#nextSegment(lane);
    while (lane.segment !== undefined) {
      await this.#render(lane, lane.session, lane.segment, signal);
      if (this.#board.isComplete) return this.#joiner ? undefined : await this.#join(lane, lane.session, signal);
      lane.segment = this.#mayContinue(lane) ? this.#nextSegment(lane) : undefined;
    }
    return undefined;
  }

  /** While other videos wait, all lanes but one end after their segment, which leaves as many workers as a whole render takes. */
  #mayContinue(lane: Lane): boolean {
    if (!this.#host.isCrowded()) return true;
    return ![...this.#lanes].some((other) => other !== lane && other.session?.hasWorker === true);
  }

  /** Returns a segment without a lane, or else one whose lane still waits for a worker. */
  #nextSegment(lane: Lane): number | undefined {
    const free = this.#board.take(performance.now());
    if (free !== undefined) return free;
    for (const other of this.#lanes) {
      if (other === lane || other.segment === undefined || other.session?.isWaiting !== true) continue;
      other.cancel.abort();
      this.#board.release(other.segment);
      return this.#board.take(performance.now());
    }
    return undefined;
  }

  async #render(lane: Lane, session: RenderSession, index: number, signal: AbortSignal): Promise<void> {
    const { segments, output } = this.#job;
    const segment = must(segments[index], `segment ${index}`);
    const file = `${output}.segment-${this.#files.size}`;
    this.#files.add(file);
    this.#host.expectOutput(session, file);
    const startedAt = performance.now();
    const onProgress = this.#job.onProgress && ((fraction: number): void => this.#reportProgress(index, fraction));
    const request = this.#stepFor(segmentPiece(segment));
    const facts = await session.render({ ...request, onProgress }, signal);
    if (!this.#board.finish(index, performance.now() - startedAt)) return;
    this.#reportProgress(index, 1);
    this.#finished[index] = file;
    this.#facts ??= facts;
    for (const other of this.#lanes) if (other !== lane && other.segment === index) other.cancel.abort();
  }

  /** The progress of a segment that is rendered twice is that of its faster worker. */
  #reportProgress(index: number, fraction: number): void {
    const { segments, onProgress } = this.#job;
    this.#progress[index] = Math.max(fraction, this.#progress[index] ?? 0);
    const total = segments.reduce((sum, { frames }) => sum + frames, 0);
    const done = segments.reduce((sum, { frames }, at) => sum + frames * (this.#progress[at] ?? 0), 0);
    onProgress?.(done / Math.max(1, total));
  }

  async #join(lane: Lane, session: RenderSession, signal: AbortSignal): Promise<RenderFacts> {
    this.#joiner = lane;
    const { segments, output } = this.#job;
    const encode = performance.now() - this.#startedAt;
    const sizes = await Promise.all(this.#finished.map(async (file) => (await stat(file)).size)).catch(
      rethrowAsStorageError,
    );
    const bytes = sizes.reduce((sum, size) => sum + size, 0);
    this.#host.expectOutput(session, output);
    const request = this.#stepFor(joinPiece(segments, this.#job.recipe.video.frames), bytes);
    const joined = await session.render({ ...request, attachment: this.#finished }, signal);
    // The bars are the same in every segment. The encoding time is the time that the client waited, not the sum of all
    // lanes.
    const drawn = must(this.#facts, 'the facts of a segment');
    return { ...drawn, timings: { ...drawn.timings, encode, ...joined.timings } };
  }

  #stepFor(piece: VideoPiece, attachedBytes?: number): StepRequest<RenderStep> {
    const { asset, files, limitMs } = this.#job;
    // The cuts are no longer needed.
    const recipe = { ...this.#job.recipe, cuts: [], piece };
    const attachment = attachedBytes === undefined ? undefined : { attachment: { bytes: attachedBytes } };
    const step = { type: 'render', asset, recipe, ...attachment, files: files.map(remoteFile) } as const;
    return { step, files, limitMs };
  }

  #hedge(): void {
    if (this.#board.isComplete || !this.#host.hasIdleWorker()) return;
    const slow = this.#board.takeSlow(performance.now());
    if (slow === undefined) return;
    this.#host.onHedged();
    this.#startLane(undefined, slow);
  }
}

function isRetryable(error: unknown): boolean {
  return error instanceof AppError && RETRYABLE_CODES.has(error.code);
}

async function removeFile(file: string): Promise<void> {
  await unlink(file).catch((error: unknown) => {
    if (!hasCode(error, 'ENOENT')) throw error;
  });
}
