// What a render will cost, learnt from those before it: milliseconds for each unit of work, as a moving average.

import type { AssetKind } from '../media/sniff.ts';
import type { Recipe } from '../render/compose.ts';
import type { VideoRecipe } from '../render/video-recipe.ts';

/** How much of the old knowledge a new render replaces. */
const LEARNING = 0.1;
/** Every render costs something, however small. */
const LEAST_MS = 3;

/** Before the first render: measured on two cores, per megapixel and, for videos, per megapixel of every frame. */
const FIRST_GUESS: Readonly<Record<Recipe['kind'], number>> = { transparent: 4, image: 25, video: 12 };

/** What a whole render usually takes, of a kind: for those whose asset nobody has looked at yet. */
const FIRST_USUAL_MS: Readonly<Record<AssetKind, number>> = { image: 60, video: 3_000 };

export class CostModel {
  readonly #usual = new Map<AssetKind, number>(Object.entries(FIRST_USUAL_MS) as [AssetKind, number][]);
  readonly #perUnit = new Map<Recipe['kind'], number>(Object.entries(FIRST_GUESS) as [Recipe['kind'], number][]);

  estimateMs(recipe: Recipe): number {
    return LEAST_MS + (this.#perUnit.get(recipe.kind) ?? 0) * unitsOf(recipe);
  }

  usualMs(kind: AssetKind): number {
    return this.#usual.get(kind) ?? LEAST_MS;
  }

  learn(recipe: Recipe, milliseconds: number): void {
    // Pieces of a render say nothing about how long whole ones take.
    if (recipe.kind === 'video' && recipe.piece !== undefined) return;
    const kind = recipe.kind === 'video' ? 'video' : 'image';
    this.#usual.set(kind, this.usualMs(kind) + LEARNING * (milliseconds - this.usualMs(kind)));
    const known = this.#perUnit.get(recipe.kind) ?? 0;
    const seen = Math.max(0, milliseconds - LEAST_MS) / unitsOf(recipe);
    this.#perUnit.set(recipe.kind, known + LEARNING * (seen - known));
  }
}

function unitsOf(recipe: Recipe): number {
  const megapixels = (recipe.canvas.width * recipe.canvas.height) / 1e6;
  // A thumbnail takes longer than its pixels say.
  const units = Math.max(0.05, megapixels);
  return recipe.kind === 'video' ? units * Math.max(1, framesOf(recipe)) : units;
}

/** Joining encodes nothing, or only sound. */
const JOIN_SHARE = 0.02;

function framesOf({ piece, video }: VideoRecipe): number {
  if (piece === undefined) return video.frames;
  return piece.type === 'segment' ? piece.segment.frames : video.frames * JOIN_SHARE;
}
