import { expect, it } from 'vitest';
import { VIDEO_PROBE } from '../../../../../test/dispatch/sample-reports.ts';
import { composeTransparentRecipe } from '../../../../engine/render/recipe.ts';
import { composeVideoRecipe, DEFAULT_VIDEO_LIMITS } from '../../../../engine/render/video-recipe.ts';
import { maxOutputBytes } from './output-limit.ts';

const LIMIT = 2_000_000_000;

it('an output is limited to what its recipe can produce', () => {
  expect(maxOutputBytes(composeTransparentRecipe({ width: 100, height: 100 }, []), LIMIT)).toBe(1_040_000);
  const video = maxOutputBytes(composeVideoRecipe(VIDEO_PROBE, [], DEFAULT_VIDEO_LIMITS), LIMIT);
  expect(video).toBeGreaterThan(1_000_000);
  expect(video).toBeLessThan(10_000_000);
});

it("an output is limited to the operator's maximum, whatever bit rate a worker has reported", () => {
  const lie = { ...VIDEO_PROBE, video: { ...VIDEO_PROBE.video, bitRate: 1e19 } };
  expect(maxOutputBytes(composeVideoRecipe(lie, [], DEFAULT_VIDEO_LIMITS), LIMIT)).toBe(LIMIT);
});
