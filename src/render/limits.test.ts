import { expect, it } from 'vitest';
import { DEFAULT_PLANS } from '../account/plans.ts';
import { AppError } from '../errors.ts';
import { composeImageRecipe, DEFAULT_IMAGE_LIMITS } from './recipe.ts';
import { DEFAULT_VIDEO_LIMITS } from './video-recipe.ts';

it('the library allows by default what the smallest plan allows', () => {
  expect(DEFAULT_PLANS.get('free').limits).toMatchObject({ ...DEFAULT_IMAGE_LIMITS, ...DEFAULT_VIDEO_LIMITS });
});

it('a picture within its pixels may still be too long to draw across', () => {
  const probe = { kind: 'image', width: 5_000_000, height: 8, isSrgb: true } as const;
  const compose = (): unknown => composeImageRecipe(probe, [{ text: 'a', position: 50 }], DEFAULT_IMAGE_LIMITS);
  expect(compose).toThrow(AppError);
  expect(compose).toThrow('at most 65535 pixels');
});
