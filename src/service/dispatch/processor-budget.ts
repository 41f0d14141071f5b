// The processor time that a task may use: about three times that of the most expensive good one of its size, measured on
// two cores. Only the worker's own time counts, so a long queue or a busy machine ends nothing. Tasks on videos report
// progress and have a deadline instead.

import { barsOf, encodedMegapixelsOf } from './queue/cost-model.ts';
import type { WorkerTask } from './tasks.ts';

/** Even a small task may load fonts and dictionaries. */
const BASE_MS = 5_000;
/** A bar may have 180 Chinese characters, whose line breaks take longest: about 0.13 s. */
const MS_PER_BAR = 400;
/** An image full of large Chinese characters and emoji takes up to 0.8 s, of which WebP takes 0.2 s. */
const MS_PER_MEGAPIXEL = 2_000;
/** A Nastaliq font with many contextual rules takes longest to check. */
const FONT_MS = 10_000;
/** Of an image. Encoding it again for `max_bytes` takes less than drawing it. Layouts have up to 500 bars and no other limit. */
const MAX_IMAGE_MS = 120_000;

/** Returns undefined if the task has no budget. */
export function processorBudgetMs(task: WorkerTask): number | undefined {
  if (task.type === 'probe') return task.asset.kind === 'image' ? BASE_MS : undefined;
  const { recipe } = task.job;
  switch (recipe.kind) {
    case 'font':
      return FONT_MS;
    case 'layout':
      return textMs(recipe);
    case 'image':
    case 'transparent':
      return Math.min(MAX_IMAGE_MS, textMs(recipe) + MS_PER_MEGAPIXEL * encodedMegapixelsOf(recipe));
    case 'clip':
    case 'cover':
    case 'sound':
    case 'video':
      return undefined;
  }
}

function textMs(recipe: Parameters<typeof barsOf>[0]): number {
  return BASE_MS + MS_PER_BAR * barsOf(recipe);
}
