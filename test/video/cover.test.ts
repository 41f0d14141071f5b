// Covers: one frame of a video as an image, in decoded pixels.

import {
  AVCOL_PRI_BT2020,
  AVCOL_RANGE_MPEG,
  AVCOL_SPC_BT2020_NCL,
  AVCOL_TRC_ARIB_STD_B67,
  AVCOL_TRC_SMPTE2084,
} from 'node-av/constants';
import { afterAll, describe, expect, it } from 'vitest';
import type { RequestedOutput } from '../../src/engine/caption/format-field.ts';
import type { Overlay } from '../../src/engine/caption/overlay.ts';
import { toneMappingOf } from '../../src/engine/media/video/frames/steps.ts';
import { probeVideo } from '../../src/engine/media/video/probe/probe.ts';
import { renderCover } from '../../src/engine/render/cover.ts';
import { composeCoverRecipe, type CoverRecipe } from '../../src/engine/render/cover-recipe.ts';
import { createRenderTools } from '../../src/engine/render/renderer-tools.ts';
import { DEFAULT_VIDEO_LIMITS } from '../../src/engine/render/video-recipe.ts';
import { decode, pixelAt, rowsWhere } from '../pictures.ts';
import { BT2020, BT709, paintYuv, type Rgb } from './painting.ts';
import { plainClip } from './plain-clip.ts';
import { renderClip, workDirectory } from './render-clip.ts';

const work = workDirectory();
afterAll(() => work.remove());
const tools = createRenderTools();

const LATE: readonly Overlay[] = [{ text: 'Hi', position: 50, start: 0.5 }];
/** In hundredths of a second: frames of very different lengths. */
const TIMES = [0, 2, 5, 6, 20, 21, 22, 50, 51, 80, 81, 83, 90, 99, 100, 130, 131, 132, 150, 200];
const brightness = (frame: number): number => 20 + frame * 10;
const paintFrames = (plane: number, _x: number, _y: number, frame: number): number =>
  plane === 0 ? brightness(frame) : 128;

const TWO_COLORS = (x: number): Rgb => (x < 48 ? [200, 60, 30] : [20, 90, 220]);
const BT2020_TAGS = { space: AVCOL_SPC_BT2020_NCL, primaries: AVCOL_PRI_BT2020, range: AVCOL_RANGE_MPEG };
const HDR = {
  codec: 'libx265',
  pixelFormat: 'yuv420p10le',
  paint: paintYuv(TWO_COLORS, { ...BT2020, bits: 10 }),
  encoderOptions: { preset: 'ultrafast', 'x265-params': 'lossless=1:log-level=none' },
  frames: 2,
} as const;

function frameClip(name: string, options: Readonly<Record<string, string>>): string {
  return plainClip(work.path(name), {
    paint: paintFrames,
    frames: TIMES.length,
    pts: TIMES,
    timeBase: { num: 1, den: 100 },
    encoderOptions: { qp: '2', ...options },
  });
}

function compose(path: string, at: number, output: RequestedOutput = {}): CoverRecipe {
  const probe = probeVideo(path, 'mp4', { maxSide: 4_096 });
  return composeCoverRecipe(probe, LATE, DEFAULT_VIDEO_LIMITS, { ...output, at });
}

async function cover(path: string, at: number, output?: RequestedOutput) {
  const recipe: CoverRecipe = JSON.parse(JSON.stringify(compose(path, at, output)));
  return await decode((await renderCover(recipe, path, tools)).bytes);
}

function frameAt(at: number): number {
  return TIMES.findLastIndex((time) => time * 10 <= Math.round(at * 1_000));
}

describe('a cover', () => {
  it.each([
    ['B-frames', { g: '250', bf: '3', preset: 'medium' }],
    ['open groups of frames', { g: '6', bf: '3', preset: 'medium', 'x264-params': 'open-gop=1:keyint=6:min-keyint=2' }],
    ['only keyframes', { g: '1', preset: 'ultrafast' }],
  ])('shows exactly the frame of its time at a variable frame rate, with %s', async (name, options) => {
    const path = frameClip(`${name}.mp4`, options);
    for (const at of [0, 0.01, 0.05, 0.19, 0.2, 0.505, 0.81, 0.985, 1, 1.29, 1.3, 1.99, 2]) {
      const [gray = 0] = pixelAt(await cover(path, at), 90, 2);
      const expected = ((brightness(frameAt(at)) - 16) * 255) / 219;
      expect(Math.abs(gray - expected), `at ${at}`).toBeLessThanOrEqual(3);
    }
  });

  it('shows the captions of its time', async () => {
    const path = frameClip('captions.mp4', { preset: 'ultrafast' });
    const barsAt = async (at: number) => {
      const pixels = await cover(path, at);
      const [background = 0] = pixelAt(pixels, 0, 0);
      return rowsWhere(pixels, ([gray = 0]) => gray < background - 10).length;
    };
    expect([await barsAt(0.49), await barsAt(0.5)]).toEqual([0, 1]);
  });

  it.each([
    ['of BT.709', { paint: paintYuv(TWO_COLORS, BT709), encoderOptions: { preset: 'ultrafast', qp: '2' } }],
    ['of HLG', { ...HDR, tags: { ...BT2020_TAGS, transfer: AVCOL_TRC_ARIB_STD_B67 } }],
    ['of PQ', { ...HDR, tags: { ...BT2020_TAGS, transfer: AVCOL_TRC_SMPTE2084 } }],
  ])('has the colors of the rendered video %s', async (name, options) => {
    const path = plainClip(work.path(`${name}.mp4`), options);
    const { clip, recipe } = await renderClip(path, work.path(`${name}-rendered.mp4`), LATE);
    expect(toneMappingOf(recipe.video) !== undefined).toBe('tags' in options);
    const pixels = await cover(path, 0);
    for (const x of [10, 80]) {
      const [expected, actual] = [clip.frames[0]?.rgb(x, 4) ?? [], pixelAt(pixels, x, 4)];
      for (const [channel, value] of expected.entries()) {
        expect(Math.abs(value - (actual[channel] ?? 0))).toBeLessThanOrEqual(6);
      }
    }
  });

  it('takes the size of fit, and the requested format', async () => {
    const path = frameClip('fitted.mp4', { preset: 'ultrafast' });
    const fit = { mode: 'blur', color: '#000000', width: 96, height: 160 } as const;
    const recipe = compose(path, 1, { fit, format: 'jpeg' });
    const { bytes, width, height } = await renderCover(recipe, path, tools);
    expect([width, height, bytes.subarray(0, 2).toString('hex')]).toEqual([96, 160, 'ffd8']);
  });

  it('counts the seconds from the keyframe before it, and refuses a time after the end', () => {
    const path = frameClip('keyframes.mp4', { preset: 'ultrafast', g: '10' });
    expect(compose(path, 0.5).decodedSeconds).toBeCloseTo(0.5);
    expect(compose(path, 1.5).decodedSeconds).toBeCloseTo(0.69);
    expect(() => compose(path, 9)).toThrow('seconds long; at is 9');
  });
});
