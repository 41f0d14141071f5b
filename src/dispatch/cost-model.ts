// What a render will cost, learnt from those before it: milliseconds for each unit of work, as a moving average.

import type { Recipe } from '../render/compose.ts';

/** How much of the old knowledge a new render replaces. */
const LEARNING = 0.1;
/** Every render costs something, however small. */
const LEAST_MS = 3;

/** Before the first render: measured on two cores, per megapixel and, for videos, per megapixel of every frame. */
const FIRST_GUESS: Readonly<Record<Recipe['kind'], number>> = { transparent: 4, image: 25, video: 12 };

export class CostModel {
  readonly #perUnit = new Map<Recipe['kind'], number>(Object.entries(FIRST_GUESS) as [Recipe['kind'], number][]);

  estimateMs(recipe: Recipe): number {
    return LEAST_MS + (this.#perUnit.get(recipe.kind) ?? 0) * unitsOf(recipe);
  }

  learn(recipe: Recipe, milliseconds: number): void {
    const known = this.#perUnit.get(recipe.kind) ?? 0;
    const seen = Math.max(0, milliseconds - LEAST_MS) / unitsOf(recipe);
    this.#perUnit.set(recipe.kind, known + LEARNING * (seen - known));
  }
}

function unitsOf(recipe: Recipe): number {
  const megapixels = (recipe.canvas.width * recipe.canvas.height) / 1e6;
  // A thumbnail takes longer than its pixels say.
  const units = Math.max(0.05, megapixels);
  return recipe.kind === 'video' ? units * Math.max(1, recipe.video.frames) : units;
}
