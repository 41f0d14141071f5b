import { expect, it } from 'vitest';
import { DEFAULT_PLANS } from '../account/plans.ts';
import { DEFAULT_IMAGE_LIMITS } from './recipe.ts';
import { DEFAULT_VIDEO_LIMITS } from './video-recipe.ts';

it('the library allows by default what the smallest plan allows', () => {
  expect(DEFAULT_PLANS.get('free').limits).toMatchObject({ ...DEFAULT_IMAGE_LIMITS, ...DEFAULT_VIDEO_LIMITS });
});
