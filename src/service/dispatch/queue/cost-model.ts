// Estimates how long a render takes, from the renders before it: a moving average of milliseconds per unit of work.

import { wordCount } from '../../../engine/caption/captions-field.ts';
import type { AssetKind } from '../../../engine/media/sniff.ts';
import type { Recipe } from '../../../engine/render/compose.ts';
import type { CoverRecipe } from '../../../engine/render/cover-recipe.ts';
import { type ImageRecipe, larger, type TransparentRecipe } from '../../../engine/render/recipe.ts';
import { encodesWithin } from '../../../engine/render/size-limit.ts';
import type { VideoRecipe } from '../../../engine/render/video-recipe.ts';

/** The weight of the newest render in the moving averages. */
const LEARNING_RATE = 0.1;
/** Every render costs something, however small. */
const MIN_MS = 3;
/** Small images take longer than their pixels suggest. */
const MIN_MEGAPIXELS = 0.05;
/** The share of a video frame's cost that remains when it is decoded but not encoded. */
const DROPPED_FRAME_COST = 0.25;

/** HDR takes a deeper decoder and tone mapping, so it has a rate of its own. */
type RenderClass = Recipe['kind'] | 'hdr';

/**
 * The rates until the first render: milliseconds per megapixel, for videos per megapixel and frame, for layouts per
 * bar, for sound per second, for fonts each, measured on two cores.
 */
const INITIAL_MS_PER_UNIT: Readonly<Record<RenderClass, number>> = {
  transparent: 4,
  layout: 3,
  sound: 8,
  font: 200,
  image: 25,
  video: 12,
  // Its frames are only decoded.
  cover: 3,
  // Only frames that change are encoded.
  clip: 1,
  hdr: 19,
};
/** In megapixels times frames. A shorter video says more about the start of a decoder than about the rate of frames. */
const MIN_LEARNED_VIDEO_UNITS = 20;
/** A learned rate may refuse videos only up to this multiple of the initial one, whatever unusual renders came before. */
const MAX_RATE_FACTOR = 4;
const INITIAL_USUAL_MS: Readonly<Record<AssetKind, number>> = { image: 60, video: 3_000 };

export class CostModel {
  readonly #msPerUnit = { ...INITIAL_MS_PER_UNIT };
  #usualMs: number;

  constructor(kind: AssetKind) {
    this.#usualMs = INITIAL_USUAL_MS[kind];
  }

  /** Returns the cost of an average render, for assets that have not been probed yet. */
  get usualMs(): number {
    return this.#usualMs;
  }

  estimateMs(recipe: Recipe): number {
    return MIN_MS + this.#msPerUnit[classOf(recipe)] * unitsOf(recipe);
  }

  /** Like `estimateMs`, but a lower bound, for refusing a render because it would take too long. */
  leastMs(recipe: Recipe): number {
    const renderClass = classOf(recipe);
    const maxRate = INITIAL_MS_PER_UNIT[renderClass] * MAX_RATE_FACTOR;
    return MIN_MS + Math.min(this.#msPerUnit[renderClass], maxRate) * unitsOf(recipe);
  }

  learn(recipe: Recipe, milliseconds: number): void {
    // Layouts, sound and fonts say nothing about how long renders take.
    const isUsual = recipe.kind !== 'layout' && recipe.kind !== 'sound' && recipe.kind !== 'font';
    if (isUsual) this.#usualMs = average(this.#usualMs, milliseconds);
    const units = unitsOf(recipe);
    if (recipe.kind === 'video' && units < MIN_LEARNED_VIDEO_UNITS) return;
    const msPerUnit = Math.max(0, milliseconds - MIN_MS) / units;
    const renderClass = classOf(recipe);
    this.#msPerUnit[renderClass] = average(this.#msPerUnit[renderClass], msPerUnit);
  }
}

function average(before: number, newest: number): number {
  return before + LEARNING_RATE * (newest - before);
}

function classOf(recipe: Recipe): RenderClass {
  return recipe.kind === 'video' && recipe.video.tags.transfer !== 'sdr' ? 'hdr' : recipe.kind;
}

/** A page has about this many words. */
const WORDS_PER_BAR = 5;

export function barsOf({ overlays }: Pick<ImageRecipe, 'overlays'>): number {
  return Math.max(overlays.length, wordCount(overlays) / WORDS_PER_BAR);
}

/** Returns the megapixels of an image, as often as it is encoded for its `max_bytes`. */
export function encodedMegapixelsOf(recipe: ImageRecipe | TransparentRecipe): number {
  const isSearched = recipe.kind === 'image' && recipe.output.format !== 'png' && recipe.output.maxBytes !== undefined;
  return megapixelsOf(recipe) * (isSearched ? encodesWithin(recipe.canvas) : 1);
}

function megapixelsOf(recipe: Exclude<Recipe, { readonly kind: 'sound' | 'font' }>): number {
  const { width, height } = larger(recipe.canvas, recipe.source ?? recipe.canvas);
  return Math.max(MIN_MEGAPIXELS, (width * height) / 1e6);
}

function unitsOf(recipe: Recipe): number {
  // A layout draws nothing, so its cost depends on its bars and not on its size.
  if (recipe.kind === 'layout') return Math.max(1, barsOf(recipe));
  if (recipe.kind === 'sound') return Math.max(1, recipe.seconds);
  if (recipe.kind === 'font') return 1;
  if (recipe.kind === 'image' || recipe.kind === 'transparent') return encodedMegapixelsOf(recipe);
  const megapixels = megapixelsOf(recipe);
  if (recipe.kind === 'clip') return megapixels * recipe.frames;
  return megapixels * Math.max(1, recipe.kind === 'cover' ? decodedFrames(recipe) : framesOf(recipe));
}

function framesOf({ video, frameStep, maxBytes }: VideoRecipe): number {
  const encodes = maxBytes === undefined ? 1 : 2;
  return encodes * video.frames * (DROPPED_FRAME_COST + (1 - DROPPED_FRAME_COST) / frameStep);
}

function decodedFrames({ decodedSeconds, video: { frames, start, end } }: CoverRecipe): number {
  return (decodedSeconds * frames) / Math.max(end - start, Number.EPSILON);
}
