import { writeFileSync } from 'node:fs';
import { afterAll, describe, expect, it } from 'vitest';
import { renderImage } from '../src/engine/index.ts';
import { probeVideo } from '../src/engine/media/video/probe/probe.ts';
import { createRenderTools } from '../src/engine/render/renderer-tools.ts';
import { renderOnVideo } from '../src/engine/render/video.ts';
import { composeVideoRecipe, DEFAULT_VIDEO_LIMITS } from '../src/engine/render/video-recipe.ts';
import { GIF_COLORS, gifFile, type GifFrame } from './gif-file.ts';
import { decode, pixelAt } from './pictures.ts';
import { type ReadClip, readClip } from './video/clip.ts';
import { workDirectory } from './video/render-clip.ts';

const work = workDirectory();
afterAll(() => work.remove());
const tools = createRenderTools();
const [BLACK, RED, GREEN, BLUE] = GIF_COLORS;

async function renderAnimation(width: number, height: number, frames: readonly GifFrame[]): Promise<ReadClip> {
  const [source, output] = [work.path('source.gif'), work.path('output.mp4')];
  writeFileSync(source, gifFile(width, height, frames));
  const probe = probeVideo(source, 'animation', { maxSide: DEFAULT_VIDEO_LIMITS.videoSide });
  const recipe = composeVideoRecipe(probe, [{ text: 'Hi', position: 100 }], DEFAULT_VIDEO_LIMITS);
  await renderOnVideo(recipe, source, output, tools);
  return readClip(output);
}

describe('a GIF as an image', () => {
  it('an image from a GIF is its first frame, and keeps its transparency', async () => {
    const frames = [
      { delay: 10, color: 1, left: 0, width: 60 },
      { delay: 10, color: 2 },
    ];
    const { bytes } = await renderImage(gifFile(120, 200, frames), [{ text: 'Hi', position: 100 }]);
    const png = await decode(bytes);
    expect([png.width, png.height]).toEqual([120, 200]);
    expect(pixelAt(png, 10, 10)).toEqual([...RED, 255]);
    expect(pixelAt(png, 100, 10)[3]).toBe(0);
  });
});

describe('a GIF as a video', () => {
  it('a GIF shows each frame as long as browsers do, once, without sound', async () => {
    const frames = [0, 1, 2, 5, 20].map((delay, index) => ({ delay, color: 1 + (index % 3) }));
    const clip = await renderAnimation(64, 96, frames);
    expect(clip.frames.map(({ seconds }) => Math.round(seconds * 100))).toEqual([0, 10, 20, 22, 27]);
    expect(clip.seconds).toBeCloseTo(0.47, 2);
    expect([clip.codec, clip.streams, clip.audio]).toEqual(['h264', 1, undefined]);
  });

  it('a GIF clears and restores what frames leave behind', async () => {
    const corner = { left: 0, top: 0, width: 32, height: 32 };
    const clip = await renderAnimation(96, 128, [
      { delay: 10, color: 1 },
      { delay: 10, color: 2, disposal: 2, ...corner },
      { delay: 10, color: 3, disposal: 3, ...corner, left: 64 },
      { delay: 10, color: undefined, width: 1, height: 1 },
    ]);
    const places = [
      [16, 16],
      [80, 16],
      [48, 60],
    ] as const;
    const colors = clip.frames.map((frame) => places.map(([x, y]) => nearest(frame.rgb(x, y))));
    expect(colors).toEqual([
      [RED, RED, RED],
      [GREEN, RED, RED],
      [BLACK, BLUE, RED],
      [BLACK, RED, RED],
    ]);
  });

  it('a GIF beyond the limits of videos is refused', async () => {
    const long = renderAnimation(16, 16, [
      { delay: 6_000, color: 1 },
      { delay: 100, color: 2 },
    ]);
    await expect(long).rejects.toMatchObject({ code: 'asset_too_long' });
    const wide = renderAnimation(5_000, 2, [{ delay: 10, color: 1 }]);
    await expect(wide).rejects.toMatchObject({ code: 'asset_dimensions_too_large' });
  });
});

function nearest([red, green, blue]: readonly [number, number, number]): readonly number[] {
  const distance = ([r, g, b]: readonly number[]): number =>
    Math.abs((r ?? 0) - red) + Math.abs((g ?? 0) - green) + Math.abs((b ?? 0) - blue);
  return GIF_COLORS.reduce<readonly number[]>(
    (best, color) => (distance(color) < distance(best) ? color : best),
    BLACK,
  );
}
