// One long video on several workers. Each is a lane: a session that does one segment after the other, as long as there are
// any, with the asset it fetched for the first. Whoever finishes the last one joins them all. A segment that takes far longer
// than the others is done a second time by somebody else; the first result counts. A lane that fails leaves its segment to the
// others; when none is left, the caller can still have the whole rendered by one.

import { stat, unlink } from 'node:fs/promises';
import { AppError, type ErrorCode } from '../../../errors.ts';
import { rethrowAsStorageError } from '../../../media/work-area.ts';
import type { VideoSegment } from '../../../media/video/segments/cuts.ts';
import type { RenderFacts } from '../../../render/render.ts';
import type { VideoRecipe } from '../../../render/video-recipe.ts';
import { SegmentBoard } from './segment-board.ts';
import type { StepRequest, RenderSession } from './session.ts';
import type { OfferedAsset } from '../shared/wire.ts';

export interface SegmentedJob {
  readonly recipe: VideoRecipe;
  readonly segments: readonly VideoSegment[];
  readonly asset: OfferedAsset;
  readonly output: string;
  /** How long a worker may be at a piece before it counts as lost. */
  readonly limitMs: number;
  /** At most as many workers at once, second tries not counted. */
  readonly lanes: number;
  /** Its worker has the asset already. */
  readonly first: RenderSession | undefined;
}

/** What a render in segments needs of its front. */
export interface SegmentHost {
  open(signal: AbortSignal): Promise<RenderSession>;
  /** Where the next result of a session goes. */
  expect(session: RenderSession, file: string): void;
  end(session: RenderSession): void;
  /** Some worker could take up more, as far as is known. */
  hasIdleWorker(): boolean;
  /** Other videos wait for a worker. */
  isCrowded(): boolean;
  onHedged(): void;
}

interface Lane {
  readonly cancel: AbortController;
  session: RenderSession | undefined;
  segment: number | undefined;
}

/** Trouble of workers or of the queue: a segment, or the whole, may do better with others. */
const PASSING: ReadonlySet<ErrorCode> = new Set(['renderer_unavailable', 'storage_unavailable', 'overloaded']);
const HEDGE_CHECK_MS = 250;

/** False when rendering the video whole would end the same way. */
export function mayRenderWhole(error: unknown): boolean {
  return !(error instanceof AppError) || PASSING.has(error.code);
}

export class SegmentedRender {
  readonly #job: SegmentedJob;
  readonly #desk: SegmentHost;
  readonly #board: SegmentBoard;
  readonly #over = new AbortController();
  readonly #signal: AbortSignal;
  readonly #began = performance.now();
  readonly #lanes = new Set<Lane>();
  readonly #running: Promise<void>[] = [];
  /** Every file that may have come into being. */
  readonly #files = new Set<string>();
  readonly #done: string[] = [];
  #facts: RenderFacts | undefined;
  #joiner: Lane | undefined;
  #settle: { readonly resolve: (facts: RenderFacts) => void; readonly reject: (reason: unknown) => void } | undefined;

  constructor(job: SegmentedJob, desk: SegmentHost, signal: AbortSignal) {
    this.#job = job;
    this.#desk = desk;
    this.#board = new SegmentBoard(job.segments.map(({ frames }) => frames));
    this.#signal = AbortSignal.any([signal, this.#over.signal]);
  }

  /** Once. Nothing of it is left when it has settled: no session, no file but the output. */
  async run(): Promise<RenderFacts> {
    const hedging = setInterval(() => this.#hedge(), HEDGE_CHECK_MS);
    try {
      return await new Promise<RenderFacts>((resolve, reject) => {
        this.#settle = { resolve, reject };
        this.#begin(this.#job.first);
        const lanes = Math.min(this.#job.lanes, this.#job.segments.length);
        for (let lane = 1; lane < lanes; lane += 1) this.#begin();
      });
    } finally {
      clearInterval(hedging);
      this.#over.abort();
      await Promise.all(this.#running);
      await Promise.all([...this.#files].map(removeFile));
    }
  }

  #begin(session?: RenderSession, segment?: number): void {
    const lane: Lane = { cancel: new AbortController(), session, segment };
    this.#lanes.add(lane);
    const running = this.#walk(lane).then(
      (facts) => {
        this.#leave(lane);
        if (facts) this.#settle?.resolve(facts);
        else if (this.#lanes.size === 0) this.#settle?.reject(new Error('every lane ended, but not the render'));
      },
      (error: unknown) => {
        this.#leave(lane);
        if (lane.cancel.signal.aborted) return;
        if (lane.segment !== undefined) this.#board.giveBack(lane.segment);
        const isFinal = !isPassing(error) || lane === this.#joiner || this.#lanes.size === 0;
        if (isFinal) this.#settle?.reject(error);
      },
    );
    this.#running.push(running);
  }

  #leave(lane: Lane): void {
    this.#lanes.delete(lane);
    if (lane.session) this.#desk.end(lane.session);
  }

  /** Resolves with the facts of the whole for the lane that joined it. */
  async #walk(lane: Lane): Promise<RenderFacts | undefined> {
    const signal = AbortSignal.any([this.#signal, lane.cancel.signal]);
    lane.session ??= await this.#desk.open(signal);
    lane.segment ??= this.#nextFor(lane);
    while (lane.segment !== undefined) {
      await this.#render(lane, lane.session, lane.segment, signal);
      if (this.#board.isComplete) return this.#joiner ? undefined : await this.#join(lane, lane.session, signal);
      lane.segment = this.#mayGoOn(lane) ? this.#nextFor(lane) : undefined;
    }
    return undefined;
  }

  /** While others wait, one worker must do: as many as a whole render would have. */
  #mayGoOn(lane: Lane): boolean {
    if (!this.#desk.isCrowded()) return true;
    return ![...this.#lanes].some((other) => other !== lane && other.session?.isAttended === true);
  }

  /** One that nobody is at; or one for which a ticket lies there and nobody has come. */
  #nextFor(lane: Lane): number | undefined {
    const open = this.#board.take(performance.now());
    if (open !== undefined) return open;
    for (const other of this.#lanes) {
      if (other === lane || other.segment === undefined || other.session?.isWaiting !== true) continue;
      other.cancel.abort();
      this.#board.giveBack(other.segment);
      return this.#board.take(performance.now());
    }
    return undefined;
  }

  async #render(lane: Lane, session: RenderSession, index: number, signal: AbortSignal): Promise<void> {
    const { segments, output } = this.#job;
    const segment = segments[index];
    if (segment === undefined) throw new Error(`there is no segment ${index}`);
    const file = `${output}.segment-${this.#files.size}`;
    this.#files.add(file);
    this.#desk.expect(session, file);
    const began = performance.now();
    const facts = await session.perform<RenderFacts>(this.#errand({ type: 'segment', segment }), signal);
    if (!this.#board.finish(index, performance.now() - began)) return;
    this.#done[index] = file;
    this.#facts ??= facts;
    for (const other of this.#lanes) if (other !== lane && other.segment === index) other.cancel.abort();
  }

  async #join(lane: Lane, session: RenderSession, signal: AbortSignal): Promise<RenderFacts> {
    this.#joiner = lane;
    const { segments, output } = this.#job;
    const encode = performance.now() - this.#began;
    const sizes = await Promise.all(this.#done.map(async (file) => (await stat(file)).size)).catch(
      rethrowAsStorageError,
    );
    const bytes = sizes.reduce((sum, size) => sum + size, 0);
    this.#desk.expect(session, output);
    const errand = this.#errand({ type: 'join', segments }, bytes);
    const joined = await session.perform<RenderFacts>({ ...errand, segments: this.#done }, signal);
    // Drawn by all alike; how long the segments took together is what the caller waited for.
    const drawn = this.#facts ?? joined;
    return { ...drawn, timings: { ...drawn.timings, encode, ...joined.timings } };
  }

  #errand(piece: NonNullable<VideoRecipe['piece']>, segmentBytes?: number): StepRequest {
    const { asset, limitMs } = this.#job;
    // Where else it could have been cut is of no interest any more.
    const recipe = { ...this.#job.recipe, cuts: [], piece };
    const segments = segmentBytes === undefined ? undefined : { segments: { bytes: segmentBytes } };
    return { step: { type: 'render', asset, recipe, ...segments }, limitMs };
  }

  #hedge(): void {
    if (this.#board.isComplete || !this.#desk.hasIdleWorker()) return;
    const slow = this.#board.takeSlow(performance.now());
    if (slow === undefined) return;
    this.#desk.onHedged();
    this.#begin(undefined, slow);
  }
}

function isPassing(error: unknown): boolean {
  return error instanceof AppError && PASSING.has(error.code);
}

async function removeFile(file: string): Promise<void> {
  await unlink(file).catch((error: unknown) => {
    if (!(error instanceof Error && 'code' in error && error.code === 'ENOENT')) throw error;
  });
}
