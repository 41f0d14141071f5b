// `fit` of videos, in decoded pixels.

import { afterAll, describe, expect, it } from 'vitest';
import type { Fit } from '../../src/engine/caption/fit.ts';
import { BLUR_BRIGHTNESS } from '../../src/engine/media/surround.ts';
import { probeVideo } from '../../src/engine/media/video/probe/probe.ts';
import { composeVideoRecipe, DEFAULT_VIDEO_LIMITS } from '../../src/engine/render/video-recipe.ts';
import { mediaWarnings } from '../../src/engine/render/warnings.ts';
import type { ReadClip } from './clip.ts';
import { BLUE, BT709, distance, GREEN, GRAY, paintYuv, quadrants, RED, type Rgb } from './painting.ts';
import { plainClip } from './plain-clip.ts';
import { renderClip, workDirectory } from './render-clip.ts';

const work = workDirectory();
afterAll(() => work.remove());

const LOSSLESS = { preset: 'ultrafast', qp: '4' };
const CAPTION = [{ text: 'Hi', position: 50 }];
const quadrantPaint = paintYuv(quadrants(320, 192), BT709);

async function fitClip(name: string, fit: Partial<Fit>, changes = {}): Promise<ReadClip> {
  const clip = { width: 320, height: 192, paint: quadrantPaint, encoderOptions: LOSSLESS, ...changes };
  const path = plainClip(work.path(`${name}.mp4`), clip);
  const whole = { mode: 'pad', color: '#000000', width: 320, height: 480, ...fit } as const;
  const limits = DEFAULT_VIDEO_LIMITS;
  const rendered = await renderClip(path, work.path(`${name}-fit.mp4`), CAPTION, {}, () =>
    composeVideoRecipe(probeVideo(path, 'mp4', { maxSide: 4_096 }), CAPTION, limits, { fit: whole }),
  );
  return rendered.clip;
}

/** How far a pixel of the first frame is from the color. */
function offBy(clip: ReadClip, [x, y]: readonly [number, number], color: Rgb): number {
  return distance(clip.frames[0]?.rgb(x, y) ?? [0, 0, 0], color);
}

const CORNERS = [
  [0, 0, RED],
  [1, 0, GREEN],
  [0, 1, BLUE],
  [1, 1, GRAY],
] as const;

describe('fit of a video', () => {
  it('pad shows the whole frame on the color', async () => {
    const clip = await fitClip('pad', { color: '#ffffff' });
    for (const [x, y, color] of CORNERS)
      expect(offBy(clip, [x ? 300 : 20, y ? 320 : 160], color)).toBeLessThanOrEqual(6);
    expect(offBy(clip, [160, 20], [255, 255, 255])).toBeLessThanOrEqual(6);
    expect(offBy(clip, [160, 460], [255, 255, 255])).toBeLessThanOrEqual(6);
  });

  it('crop fills the frame with the middle', async () => {
    const clip = await fitClip('crop', { mode: 'crop', width: 192, height: 192 });
    for (const [x, y, color] of CORNERS)
      expect(offBy(clip, [x ? 180 : 12, y ? 180 : 12], color)).toBeLessThanOrEqual(6);
  });

  it('crop and blur give exactly the requested size at odd ratios', async () => {
    const sizes = [
      { mode: 'crop', width: 98, height: 250 },
      { mode: 'blur', width: 98, height: 250 },
      { mode: 'blur', width: 700, height: 194 },
      { mode: 'blur', width: 320, height: 196 },
    ] as const;
    for (const [index, fit] of sizes.entries()) {
      const { width, height } = await fitClip(`odd-${index}`, fit);
      expect([width, height]).toEqual([fit.width, fit.height]);
    }
  });

  it('blur surrounds the frame with a darker copy in the same colors, up to the edges', async () => {
    const orange: Rgb = [200, 100, 50];
    const clip = await fitClip('flat', { mode: 'blur' }, { paint: paintYuv(() => orange, BT709) });
    const dark = orange.map((value) => value * BLUR_BRIGHTNESS) as unknown as Rgb;
    for (const at of [
      [1, 1],
      [318, 1],
      [160, 138],
      [1, 342],
      [318, 478],
    ] as const) {
      expect(offBy(clip, at, dark)).toBeLessThanOrEqual(6);
    }
    expect(offBy(clip, [160, 150], orange)).toBeLessThanOrEqual(6);
  });

  it('the blurred copy shows the colors of its part of the frame', async () => {
    const clip = await fitClip('colors', { mode: 'blur', width: 640, height: 192 });
    for (const [x, y, color] of CORNERS) {
      const dark = color.map((value) => value * BLUR_BRIGHTNESS) as unknown as Rgb;
      expect(offBy(clip, [x ? 630 : 10, y ? 188 : 3], dark)).toBeLessThanOrEqual(60);
      expect(offBy(clip, [x ? 470 : 170, y ? 180 : 10], color)).toBeLessThanOrEqual(6);
    }
  });

  it('fine detail that moves does not make the blurred copy flicker', async () => {
    const paint = (plane: number, x: number, y: number, frame: number): number =>
      plane > 0 ? 128 : (x + y + frame) % 2 === 0 ? 40 : 200;
    const { frames } = await fitClip('detail', { mode: 'blur' }, { paint, frames: 8 });
    const levels = frames.map((frame) => frame.rgb(100, 60)[1]);
    expect(Math.max(...levels) - Math.min(...levels)).toBeLessThanOrEqual(2);
  });

  it('a stream that changes its size fits the same frame', async () => {
    const path = plainClip(work.path('planned.mp4'), { width: 320, height: 192, encoderOptions: LOSSLESS });
    const fit = { mode: 'blur', color: '#000000', width: 240, height: 480 } as const;
    const { clip } = await renderClip(path, work.path('planned-fit.mp4'), CAPTION, {}, () => {
      const probe = probeVideo(path, 'mp4', { maxSide: 4_096 });
      const recipe = composeVideoRecipe(probe, CAPTION, DEFAULT_VIDEO_LIMITS, { fit });
      const smaller = { width: 160, height: 160 };
      return { ...recipe, video: { ...recipe.video, decoded: smaller, square: smaller } };
    });
    expect([clip.width, clip.height]).toEqual([240, 480]);
  });

  it('warns when it is enlarged more than twice, and is refused beyond four times and the plan', () => {
    const probe = probeVideo(plainClip(work.path('small.mp4')), 'mp4', { maxSide: 4_096 });
    const compose = (width: number, height: number, videoSide = 4_096) =>
      composeVideoRecipe(
        probe,
        CAPTION,
        { ...DEFAULT_VIDEO_LIMITS, videoSide },
        {
          fit: { mode: 'pad', color: '#000000', width, height },
        },
      );
    expect(mediaWarnings(compose(192, 128))).toEqual([]);
    expect(mediaWarnings(compose(200, 200))).toEqual(['upscaled']);
    expect(() => compose(400, 400)).toThrow('the limit is 4');
    expect(() => compose(101, 200)).toThrow('must be even');
    expect(() => compose(200, 200, 128)).toThrow('the limit is 128 pixels per side');
  });
});
