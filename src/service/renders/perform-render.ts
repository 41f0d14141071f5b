// One render, the same for all callers: requests that wait, asynchronous ones, visitors without a key, and the images
// of our own pages. They differ in the payer and in the destination of the file.
// probe -> compose -> strict -> reserve -> (captions from speech) -> render -> deliver, or release

import { stat } from 'node:fs/promises';
import type { Overlay } from '../../engine/caption/overlay.ts';
import { AppError } from '../../shared/errors.ts';
import type { Lease } from '../dispatch/renderer.ts';
import type { Asset } from '../../engine/media/asset.ts';
import { type LazyDirectory, rethrowAsStorageError } from '../../engine/media/work-area.ts';
import {
  type AssetLimits,
  type BaseLayer,
  outputFormatOf,
  type RenderRecipe,
  workerKindOf,
} from '../../engine/render/compose.ts';
import { must } from '../../shared/must.ts';
import type { RenderFacts } from '../../engine/render/render.ts';
import { composeSoundRecipe } from '../../engine/render/video-recipe.ts';
import { mediaWarnings, type RenderWarning, uniqueWarnings } from '../../engine/render/warnings.ts';
import { renderHeaders, type RenderHeaders } from './render-headers.ts';
import type { RenderSpeech } from './speech-captions.ts';
import { assertNoWarnings, layoutOf, webVttOf } from './strict.ts';

/** The base of a render: a file, or an empty canvas. */
type RenderSource =
  | { readonly asset: Asset; readonly canvas: undefined }
  | { readonly asset: undefined; readonly canvas: Extract<BaseLayer, { readonly kind: 'canvas' }> };

/** The amount that was taken from the payer before the render. */
export interface Payment {
  /** Called when the render failed. */
  release(error: unknown, durationMs: number): Promise<void>;
}

/** Visitors without a key share one account in the queue. */
export const GUESTS = 'guests';
/** Visitors pay nothing, so there is nothing to give back. */
export const FREE: Payment = { release: async () => undefined };

/** The steps of a render, for its log entry. */
type RenderStep = 'queue' | 'reserve' | 'transcribe' | 'render';

export interface RenderOrder<Paid extends Payment, Result> {
  readonly renderId: string;
  readonly source: RenderSource;
  readonly limits: AssetLimits;
  readonly lease: Lease;
  readonly directory: LazyDirectory;
  readonly signal: AbortSignal;
  /** The time that the request took to arrive, for the headers. */
  readonly receiveMs?: number;
  /** If true, warnings about the layout are errors. */
  readonly isStrict?: boolean;
  /** Captions from speech aren't known at first. */
  readonly compose: (base: BaseLayer, spoken?: readonly Overlay[]) => RenderRecipe;
  readonly speech?: RenderSpeech | undefined;
  /** If true, captions from speech are stored beside the file. */
  readonly keepsCaptions?: boolean;
  readonly reserve: (base: BaseLayer, recipe: RenderRecipe) => Promise<Paid>;
  /** Delivers the file, which is removed afterwards. */
  readonly deliver: (finished: FinishedRender, paid: Paid) => Promise<Result>;
  readonly onStep?: (step: RenderStep) => void;
  readonly onProgress?: (fraction: number) => void;
  /** Called when the render waits for another service and holds no worker. */
  readonly onWaiting?: () => void;
  /** Called when the renderer failed. */
  readonly onFailure?: (error: unknown) => Promise<void>;
}

/** Captions from speech as they are stored: their language, and their pages as WebVTT. */
interface StoredCaptions {
  readonly language: string | null;
  readonly webVtt: string | null;
}

/** The finished file, and facts about it. */
export interface FinishedRender {
  readonly file: string;
  readonly bytes: number;
  readonly recipe: RenderRecipe;
  readonly asset: Asset | undefined;
  readonly facts: RenderFacts;
  readonly headers: RenderHeaders;
  readonly durationMs: number;
  /** Set for captions from speech that are to be stored. */
  readonly captions?: StoredCaptions | undefined;
}

/** A damaged file is refused before credits are reserved. */
export async function performRender<Paid extends Payment, Result>(order: RenderOrder<Paid, Result>): Promise<Result> {
  const started = performance.now();
  const { source, lease, limits, onStep } = order;
  const { asset } = source;
  if (asset) onStep?.('queue');
  const base: BaseLayer = asset ? await countingFailures(order, lease.probe(asset, limits)) : source.canvas;
  const recipe = order.compose(base);
  if (order.isStrict && !order.speech) {
    assertNoWarnings(await countingFailures(order, layoutOf(order, recipe.canvas, recipe)));
  }
  // A full queue is noticed before credits are reserved. A file has entered the queue before its probe.
  if (!asset) lease.choose(workerKindOf(recipe));
  onStep?.('reserve');
  const paid = await order.reserve(base, recipe);
  try {
    const captioned = order.speech ? await addSpeech(order, order.speech, base, recipe) : { recipe };
    return await order.deliver(await draw(order, captioned, started), paid);
  } catch (error) {
    const ending = afterEncoding(error);
    await paid.release(ending, performance.now() - started);
    throw ending;
  }
}

/** A file that turned out to be too large took as much work as any other, so it is charged. */
function afterEncoding(error: unknown): unknown {
  if (!(error instanceof AppError) || error.code !== 'cannot_fit') return error;
  return new AppError(error.code, error.message, { ...(error.limit && { limit: error.limit }), isCharged: true });
}

/** A recipe with all its captions. */
interface CaptionedRecipe {
  readonly recipe: RenderRecipe;
  readonly captions?: StoredCaptions | undefined;
  readonly warnings?: readonly RenderWarning[];
  readonly uncertainWords?: number;
}

/** What is said in the video becomes its captions. Credits are reserved, and no worker is held while the service works. */
async function addSpeech(
  order: Omit<RenderOrder<Payment, unknown>, 'deliver' | 'reserve'>,
  speech: RenderSpeech,
  base: BaseLayer,
  silent: RenderRecipe,
): Promise<CaptionedRecipe> {
  const { source, lease, directory, signal, onWaiting, isStrict, keepsCaptions } = order;
  const sound = silent.kind === 'video' ? composeSoundRecipe(silent) : undefined;
  // What would be refused afterwards is refused before the service is paid.
  lease.assertFeasible(silent);
  order.onStep?.('transcribe');
  const asset = must(source.asset, 'the video of captions from speech');
  const tools = { lease, directory, signal, asset, onWaiting };
  const spoken = await countingFailures(order, speech.captions(tools, must(sound, 'the sound of the video')));
  const recipe = order.compose(base, spoken.overlays);
  const { warnings, uncertainWords } = spoken;
  if (!isStrict && !keepsCaptions) return { recipe, warnings, uncertainWords };
  const layout = await countingFailures(order, layoutOf(order, recipe.canvas, recipe));
  if (isStrict) assertNoWarnings(layout);
  const captions = { language: spoken.language ?? null, webVtt: webVttOf(layout) };
  return { recipe, warnings, uncertainWords, captions };
}

async function draw(
  order: Omit<RenderOrder<Payment, unknown>, 'deliver' | 'reserve'>,
  { recipe, captions, warnings = [], uncertainWords = 0 }: CaptionedRecipe,
  started: number,
): Promise<FinishedRender> {
  const { renderId, source, lease, directory, signal, receiveMs = 0, onStep, onProgress } = order;
  const { asset } = source;
  await directory.make();
  const file = directory.file('output');
  onStep?.(asset ? 'render' : 'queue');
  const rendered = await countingFailures(order, lease.render({ recipe, asset, output: file }, onProgress));
  // The worker is free for others while the file is delivered.
  lease.close();
  signal.throwIfAborted();
  const facts = {
    ...rendered,
    warnings: uniqueWarnings([...rendered.warnings, ...mediaWarnings(recipe), ...warnings]),
  };
  const { size: bytes } = await stat(file).catch(rethrowAsStorageError);
  const durationMs = performance.now() - started;
  const kind = recipe.kind === 'clip' ? 'video' : (asset?.kind ?? 'image');
  const format = outputFormatOf(recipe);
  const report = { renderId, kind, format, facts, uncertainWords, receiveMs, renderMs: durationMs };
  return { file, bytes, recipe, asset, facts, headers: renderHeaders(report), durationMs, captions };
}

async function countingFailures<Result>(
  { onFailure }: Pick<RenderOrder<Payment, unknown>, 'onFailure'>,
  task: Promise<Result>,
): Promise<Result> {
  try {
    return await task;
  } catch (error) {
    await onFailure?.(error);
    throw error;
  }
}
