import { expect, it, vi } from 'vitest';
import { VIDEO_PROBE } from '../../../test/dispatch/sample-reports.ts';
import type { Lease } from '../dispatch/renderer.ts';
import { AppError } from '../../shared/errors.ts';
import { createAsset } from '../../engine/media/asset.ts';
import type { LazyDirectory } from '../../engine/media/work-area.ts';
import { DEFAULT_IMAGE_LIMITS } from '../../engine/render/recipe.ts';
import { composeVideoRecipe, DEFAULT_VIDEO_LIMITS } from '../../engine/render/video-recipe.ts';
import { type Payment, performRender } from './perform-render.ts';
import type { RenderSpeech } from './speech-captions.ts';

it('a video that takes too long is refused before its sound is transcribed', async () => {
  const tooHeavy = new AppError('asset_too_heavy', 'Rendering would take about 900 seconds.');
  const captions = vi.fn<RenderSpeech['captions']>();
  const release = vi.fn<Payment['release']>();
  const never = (): never => {
    throw new Error('this step must not be reached');
  };
  const lease: Lease = {
    choose: () => undefined,
    enter: () => undefined,
    probe: async () => VIDEO_PROBE,
    assertFeasible: () => {
      throw tooHeavy;
    },
    render: never,
    leave: () => undefined,
    close: () => undefined,
  };
  const rendering = performRender({
    renderId: 'render',
    source: { asset: createAsset({ path: 'clip.mp4', format: 'mp4', bytes: 1_000 }), canvas: undefined },
    limits: { ...DEFAULT_VIDEO_LIMITS, ...DEFAULT_IMAGE_LIMITS },
    lease,
    directory: { make: never, file: never } as unknown as LazyDirectory,
    signal: new AbortController().signal,
    compose: () => composeVideoRecipe(VIDEO_PROBE, [], DEFAULT_VIDEO_LIMITS),
    speech: { captions } as unknown as RenderSpeech,
    reserve: async () => ({ release }),
    deliver: never,
  });
  await expect(rendering).rejects.toBe(tooHeavy);
  expect(captions).not.toHaveBeenCalled();
  expect(release).toHaveBeenCalledOnce();
});

it('the layout of a strict render that uses up its time counts as a failure of the account', async () => {
  const usedUp = new AppError('deadline_exceeded', 'The render used too much time.', { usedUpTime: true });
  const onFailure = vi.fn<(error: unknown) => Promise<void>>();
  const never = (): never => {
    throw new Error('this step must not be reached');
  };
  const rendering = performRender({
    renderId: 'render',
    source: { asset: createAsset({ path: 'clip.mp4', format: 'mp4', bytes: 1_000 }), canvas: undefined },
    limits: { ...DEFAULT_VIDEO_LIMITS, ...DEFAULT_IMAGE_LIMITS },
    lease: {
      choose: () => undefined,
      enter: () => undefined,
      probe: async () => VIDEO_PROBE,
      assertFeasible: () => undefined,
      render: async () => await Promise.reject(usedUp),
      leave: () => undefined,
      close: () => undefined,
    },
    directory: { make: async () => undefined, file: () => 'layout' } as unknown as LazyDirectory,
    signal: new AbortController().signal,
    isStrict: true,
    compose: () => composeVideoRecipe(VIDEO_PROBE, [], DEFAULT_VIDEO_LIMITS),
    reserve: never,
    deliver: never,
    onFailure,
  });
  await expect(rendering).rejects.toBe(usedUp);
  expect(onFailure).toHaveBeenCalledExactlyOnceWith(usedUp);
});
