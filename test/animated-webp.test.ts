import { readFileSync, writeFileSync } from 'node:fs';
import sharp from 'sharp';
import { afterAll, describe, expect, it } from 'vitest';
import { renderImage, renderVideo } from '../src/engine/index.ts';
import { isAnimation } from '../src/engine/media/sniff.ts';
import { probeVideo } from '../src/engine/media/video/probe/probe.ts';
import { createRenderTools } from '../src/engine/render/renderer-tools.ts';
import { renderOnVideo } from '../src/engine/render/video.ts';
import { composeVideoRecipe, DEFAULT_VIDEO_LIMITS } from '../src/engine/render/video-recipe.ts';
import { GIF_COLORS, type GifFrame, gifFile } from './gif-file.ts';
import { filesOf, hasSharedMedia, sharedMedia } from './shared-media.ts';
import { type ReadClip, readClip } from './video/clip.ts';
import { workDirectory } from './video/render-clip.ts';

const work = workDirectory();
afterAll(() => work.remove());
const tools = createRenderTools();
const MAX_FRAMES = 100;
const CAPTION = [{ text: 'Hi', position: 100 }];
const [, RED, GREEN] = GIF_COLORS;

async function webpOf(width: number, height: number, frames: readonly GifFrame[], lossless = true): Promise<Buffer> {
  const delay = frames.map((frame) => frame.delay * 10);
  return await sharp(gifFile(width, height, frames), { animated: true })
    .webp({ lossless, delay })
    .toBuffer();
}

async function renderAnimation(webp: Buffer): Promise<ReadClip> {
  const [source, output] = [work.path('source.webp'), work.path('output.mp4')];
  writeFileSync(source, webp);
  const probe = probeVideo(source, 'animation', { maxSide: DEFAULT_VIDEO_LIMITS.videoSide });
  await renderOnVideo(composeVideoRecipe(probe, CAPTION, DEFAULT_VIDEO_LIMITS), source, output, tools);
  return readClip(output, MAX_FRAMES);
}

describe('an animated WebP as a video', () => {
  it.each([true, false])(
    'an animated WebP shows each frame for its time, once, without sound (lossless: %s)',
    async (lossless) => {
      const frames = [5, 20, 10].map((delay, index) => ({ delay, color: 1 + (index % 3) }));
      const clip = await renderAnimation(await webpOf(64, 96, frames, lossless));
      expect(clip.frames.map(({ seconds }) => Math.round(seconds * 100))).toEqual([0, 5, 25]);
      expect(clip.seconds).toBeCloseTo(0.35, 2);
      expect([clip.codec, clip.streams, clip.audio]).toEqual(['h264', 1, undefined]);
      expect(clip.frames.map((frame) => nearest(frame.rgb(32, 20)))).toEqual(GIF_COLORS.slice(1, 4));
    },
  );

  it.each([
    ['in which frames are decoded out of order', { frames: 10, delay: 30, last: 150, seconds: 4.2 }],
    ['with too many frames per second', { frames: 120, delay: 1.2, last: 100, seconds: 2.428 }],
  ])('an animated WebP %s keeps the duration of its last frame', async (_, { frames, delay, last, seconds }) => {
    const delays = Array.from({ length: frames }, (_frame, index) => (index === frames - 1 ? last : delay));
    const colors = delays.map((each, index) => ({ delay: Math.ceil(each), color: 1 + (index % 3) }));
    const webp = sharp(gifFile(64, 96, colors), { animated: true }).webp({
      lossless: true,
      delay: delays.map((each) => each * 10),
    });
    expect((await renderAnimation(await webp.toBuffer())).seconds).toBeCloseTo(seconds, 2);
  });

  it('an animated WebP slows down frames that are too short, as browsers do', async () => {
    const frames = [1, 1, 2].map((delay, index) => ({ delay, color: 1 + index }));
    const clip = await renderAnimation(await webpOf(32, 48, frames));
    expect(clip.frames.map(({ seconds }) => Math.round(seconds * 100))).toEqual([0, 10, 20]);
  });

  it('a video from an animated WebP is black where the WebP is transparent, and keeps what earlier frames left', async () => {
    const frames = [
      { delay: 10, color: 1, left: 0, width: 32 },
      { delay: 10, color: 2, left: 0, width: 16 },
    ];
    const clip = await renderAnimation(await webpOf(96, 96, frames));
    const colors = clip.frames.map((frame) => [8, 24, 80].map((x) => nearest(frame.rgb(x, 20))));
    expect(colors).toEqual([
      [RED, RED, [0, 0, 0]],
      [GREEN, RED, [0, 0, 0]],
    ]);
  });

  it('an animated WebP beyond the limits of videos is refused', async () => {
    const long = webpOf(16, 16, [
      { delay: 6_000, color: 1 },
      { delay: 100, color: 2 },
    ]);
    await expect(renderAnimation(await long)).rejects.toMatchObject({ code: 'asset_too_long' });
    const wide = webpOf(5_000, 2, [
      { delay: 10, color: 1 },
      { delay: 10, color: 2 },
    ]);
    await expect(renderAnimation(await wide)).rejects.toMatchObject({ code: 'asset_dimensions_too_large' });
  });

  it('an animated WebP that is truncated before its first frame is refused', async () => {
    const webp = await webpOf(64, 64, [
      { delay: 10, color: 1 },
      { delay: 10, color: 2 },
    ]);
    await expect(renderAnimation(webp.subarray(0, 48))).rejects.toMatchObject({ code: 'asset_undecodable' });
  });
});

describe('a WebP in the library', () => {
  it('a WebP becomes a video only if it is animated, and an image of its first frame otherwise', async () => {
    const [animated, still] = [work.path('animated.webp'), work.path('still.webp')];
    const frames = [
      { delay: 10, color: 1 },
      { delay: 10, color: 2 },
    ];
    writeFileSync(animated, await webpOf(64, 64, frames));
    writeFileSync(
      still,
      await sharp(gifFile(64, 64, frames))
        .webp()
        .toBuffer(),
    );
    expect([animated, still].map((file) => isAnimation(readFileSync(file)))).toEqual([true, false]);
    const { frames: count } = await renderVideo(animated, work.path('library.mp4'), CAPTION);
    expect(count).toBe(2);
    await expect(renderVideo(still, work.path('still.mp4'), CAPTION)).rejects.toMatchObject({
      code: 'unsupported_asset',
    });
    const { bytes } = await renderImage(animated, CAPTION);
    expect([...(await sharp(bytes).raw().toBuffer()).subarray(0, 3)]).toEqual([...RED]);
  });
});

describe.skipIf(!hasSharedMedia)('real animated WebPs (skipped without ../shared/media)', () => {
  const files = filesOf('webp').filter((file) => isAnimation(readFileSync(sharedMedia(file))));

  it.each(files)('decodes %s to the frames that libwebp decodes', async (file) => {
    const webp = readFileSync(sharedMedia(file));
    const { pages = 1, delay = [], width, pageHeight = 0 } = await sharp(webp, { animated: true }).metadata();
    const clip = await renderAnimation(webp);
    expect(clip.frames.length).toBe(pages);
    expect(clip.seconds).toBeCloseTo(delay.reduce((sum, each) => sum + each, 0) / 1000, 1);
    const { data, info } = await sharp(webp, { animated: true })
      .flatten({ background: '#000' })
      .raw()
      .toBuffer({ resolveWithObject: true });
    // This pixel is away from the caption. The video has even sides and less color resolution.
    const [x, y] = [Math.floor(width / 2), Math.floor(pageHeight / 4)];
    for (const [page, frame] of clip.frames.entries()) {
      const at = ((page * pageHeight + y) * width + x) * info.channels;
      const expected = [...data.subarray(at, at + 3)];
      const difference = frame.rgb(x, y).map((value, index) => Math.abs(value - (expected[index] ?? 0)));
      expect(Math.max(...difference)).toBeLessThan(48);
    }
  });
});

function nearest([red, green, blue]: readonly [number, number, number]): readonly number[] {
  const distance = ([r, g, b]: readonly number[]): number =>
    Math.abs((r ?? 0) - red) + Math.abs((g ?? 0) - green) + Math.abs((b ?? 0) - blue);
  return GIF_COLORS.reduce<readonly number[]>(
    (best, color) => (distance(color) < distance(best) ? color : best),
    [0, 0, 0],
  );
}
