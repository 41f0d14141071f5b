import { expect, it } from 'vitest';
import { DEFAULT_PLANS } from '../../service/account/plans.ts';
import { AppError } from '../../shared/errors.ts';
import { composeImageRecipe, DEFAULT_IMAGE_LIMITS } from './recipe.ts';
import { DEFAULT_VIDEO_LIMITS } from './video-recipe.ts';

it('the default limits of the library equal those of the free plan', () => {
  expect(DEFAULT_PLANS.get('free').limits).toMatchObject({ ...DEFAULT_IMAGE_LIMITS, ...DEFAULT_VIDEO_LIMITS });
});

it('an image within the pixel limit is refused when one side is too long', () => {
  const probe = { kind: 'image', width: 5_000_000, height: 8, isSrgb: true } as const;
  const compose = (): unknown => composeImageRecipe(probe, [{ text: 'a', position: 50 }], DEFAULT_IMAGE_LIMITS);
  expect(compose).toThrow(AppError);
  expect(compose).toThrow('the limit is 65535 pixels per side');
});
