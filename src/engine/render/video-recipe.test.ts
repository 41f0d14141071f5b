import { describe, expect, it } from 'vitest';
import { AppError } from '../../shared/errors.ts';
import { UPRIGHT } from '../media/video/probe/orientation.ts';
import type { VideoProbe } from '../media/probe-schema.ts';
import { composeVideoRecipe, DEFAULT_VIDEO_LIMITS, type VideoLimits } from './video-recipe.ts';

function probe(changes: Partial<VideoProbe> = {}, seconds = 10): VideoProbe {
  const decoded = { width: 1280, height: 720 };
  return {
    kind: 'video',
    format: 'mp4',
    ...decoded,
    durationSeconds: seconds,
    claimedSeconds: seconds,
    frameRate: 30,
    audio: null,
    keyframes: [0],
    video: {
      index: 0,
      codec: 'h264',
      decoder: 'h264',
      timeBase: { num: 1, den: 30_000 },
      start: 0,
      lastStart: seconds - 1 / 30,
      end: seconds,
      frames: seconds * 30,
      bitRate: 4_000_000,
      decoded,
      square: decoded,
      orientation: UPRIGHT,
      pixelFormat: 'yuv420p',
      tags: { matrix: 'bt709', primaries: 'bt709', transfer: 'sdr', range: 'limited' },
      interlaced: false,
      peakNits: 1_000,
      needsDolbyVision: false,
    },
    ...changes,
  };
}

const OVERLAYS = [{ text: 'Hi', position: null }];

function refusal(changes: Partial<VideoProbe>, limits: VideoLimits = DEFAULT_VIDEO_LIMITS): AppError {
  try {
    composeVideoRecipe(probe(changes), OVERLAYS, limits);
  } catch (error) {
    if (error instanceof AppError) return error;
  }
  throw new Error('the video was accepted');
}

describe('composeVideoRecipe', () => {
  it('returns frozen, plain JSON', () => {
    const recipe = composeVideoRecipe(probe(), OVERLAYS, DEFAULT_VIDEO_LIMITS);
    expect(JSON.parse(JSON.stringify(recipe))).toEqual(recipe);
    expect(Object.isFrozen(recipe)).toBe(true);
    expect(recipe.canvas).toEqual({ width: 1280, height: 720 });
  });

  it('reports the limit and the actual value when a video exceeds a limit', () => {
    expect(refusal({ width: 4_100 })).toMatchObject({
      code: 'asset_dimensions_too_large',
      limit: { limit: 4_096, actual: 4_100 },
    });
    expect(refusal({ claimedSeconds: 61 })).toMatchObject({ code: 'asset_too_long', limit: { limit: 60, actual: 61 } });
    expect(refusal({ frameRate: 600 })).toMatchObject({
      code: 'asset_frame_rate_too_high',
      limit: { limit: 480, actual: 600 },
    });
  });

  it('a video over the limit of requests that wait names prefer: respond-async only if that would do', () => {
    const limits = { ...DEFAULT_VIDEO_LIMITS, asyncVideoSeconds: 600 };
    const advice = 'Send the header prefer: respond-async, which allows 600 seconds, or shorten it.';
    expect(refusal({ claimedSeconds: 90 }, limits).message).toContain(advice);
    expect(refusal({ claimedSeconds: 601 }, limits).message).not.toContain('prefer');
    expect(refusal({ claimedSeconds: 90 }).message).not.toContain('prefer');
    expect(refusal({ claimedSeconds: 601 }, { ...limits, videoSeconds: 600 }).message).not.toContain('prefer');
  });

  it.each([
    [30, 60, 1, 30],
    [60.06, 60, 1, 60.06],
    [90, 60, 2, 45],
    [120, 60, 2, 60],
    [240, 60, 4, 60],
    [240, 30, 8, 30],
  ])(
    'divides %f frames per second by the smallest whole number that meets a limit of %i',
    (rate, limit, step, result) => {
      const recipe = composeVideoRecipe(probe({ frameRate: rate }), OVERLAYS, {
        ...DEFAULT_VIDEO_LIMITS,
        videoFps: limit,
      });
      expect(recipe.frameStep).toBe(step);
      expect(recipe.frameRate).toBeCloseTo(result, 5);
    },
  );

  it('tolerates the rounding of phones: 60.06 frames per second, 60.1 seconds', () => {
    const measured = probe({ frameRate: 60.06, claimedSeconds: 60.1 });
    expect(() => composeVideoRecipe(measured, OVERLAYS, DEFAULT_VIDEO_LIMITS)).not.toThrow();
  });
});
