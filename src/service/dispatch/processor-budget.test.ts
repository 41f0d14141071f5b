import { describe, expect, it } from 'vitest';
import { createAsset } from '../../engine/media/asset.ts';
import { composeClipRecipe } from '../../engine/render/clip-recipe.ts';
import type { Recipe } from '../../engine/render/compose.ts';
import {
  composeImageRecipe,
  composeLayoutRecipe,
  composeTransparentRecipe,
  DEFAULT_IMAGE_LIMITS,
} from '../../engine/render/recipe.ts';
import { DEFAULT_VIDEO_LIMITS } from '../../engine/render/video-recipe.ts';
import { processorBudgetMs } from './processor-budget.ts';

const OVERLAYS = [{ text: 'Hello', position: 50 }];
const LIMITS = { ...DEFAULT_IMAGE_LIMITS, ...DEFAULT_VIDEO_LIMITS };

function budgetOf(recipe: Recipe): number | undefined {
  return processorBudgetMs({ type: 'render', job: { recipe, asset: undefined, output: '/output' } });
}

function imageBudget(width: number, maxBytes?: number): number | undefined {
  const probe = { kind: 'image', width, height: 1_000, isSrgb: true } as const;
  const output = { format: 'webp', ...(maxBytes !== undefined && { maxBytes }) } as const;
  return budgetOf(composeImageRecipe(probe, OVERLAYS, LIMITS, { output }));
}

describe('the processor time of a task', () => {
  it('grows with the bars of a layout', () => {
    const layout = (bars: number) =>
      budgetOf(
        composeLayoutRecipe(
          { width: 1_080, height: 1_920 },
          Array.from({ length: bars }, () => ({ text: 'Hi', position: 5 })),
        ),
      );
    expect([layout(1), layout(100), layout(500)]).toEqual([5_400, 45_000, 205_000]);
  });

  it('grows with the pixels of an image, as often as they are encoded', () => {
    expect([imageBudget(2_000), imageBudget(16_000)]).toEqual([9_400, 37_400]);
    expect([imageBudget(2_000, 90_000), imageBudget(16_000, 900_000)]).toEqual([33_400, 120_000]);
  });

  it('is limited for everything that workers do for images, and not for videos', () => {
    const canvas = { width: 1_000, height: 1_000 };
    expect(budgetOf(composeTransparentRecipe(canvas, OVERLAYS))).toBe(7_400);
    expect(budgetOf({ kind: 'font' })).toBe(10_000);
    expect(budgetOf(composeClipRecipe(canvas, OVERLAYS, LIMITS, { clip: { seconds: 1, fps: 25 } }))).toBeUndefined();
    const probeOf = (format: 'heic' | 'mp4') =>
      processorBudgetMs({ type: 'probe', asset: createAsset({ path: '/asset', format, bytes: 5 }), limits: LIMITS });
    expect([probeOf('heic'), probeOf('mp4')]).toEqual([5_000, undefined]);
  });
});
