import { afterAll, describe, expect, it } from 'vitest';
import type { Overlay } from '../../src/engine/caption/overlay.ts';
import type { Band } from '../../src/engine/raster/band.ts';
import { drawBands } from '../../src/engine/render/bands.ts';
import { createRenderTools } from '../../src/engine/render/renderer-tools.ts';
import { Stopwatch } from '../../src/engine/render/timing.ts';
import { makeClip, PLAIN_TAGS } from './clip.ts';
import { BT709, distance, paintYuv, type Rgb } from './painting.ts';
import { type RenderedClip, renderClip, workDirectory } from './render-clip.ts';

const work = workDirectory();
afterAll(() => work.remove());

const BACKGROUND: Rgb = [180, 150, 110];
const CANVAS = { width: 360, height: 640 };
const OVERLAYS: readonly Overlay[] = [
  { text: 'Hello 😀', position: 13 },
  { text: 'odd rows', position: 41.3 },
  { text: 'and the bottom edge', position: 100 },
];

function blended(band: Band, x: number, y: number): Rgb {
  const at = ((y - band.top) * band.width + x) * 4;
  const alpha = (band.pixels[at + 3] ?? 0) / 255;
  const over = (channel: number) => (band.pixels[at + channel] ?? 0) * alpha + (BACKGROUND[channel] ?? 0) * (1 - alpha);
  return [over(0), over(1), over(2)];
}

function luma([r, g, b]: Rgb): number {
  return 0.2126 * r + 0.7152 * g + 0.0722 * b;
}

/** Renders with nearly lossless quality, because the quality of the encoder at sharp edges depends on the CPU. */
async function renderBars(path: string, outPath: string): Promise<RenderedClip> {
  const rate = 50_000_000;
  return await renderClip(path, outPath, OVERLAYS, {}, (recipe) => ({
    ...recipe,
    encoder: { ...recipe.encoder, crf: 1, maxRate: rate, bufferSize: rate },
  }));
}

describe('bars on video', () => {
  it('bars on video have the pixels and rows of image bars and change nothing else', async () => {
    const path = work.path('flat.mp4');
    makeClip({
      path,
      container: 'mp4',
      codec: 'libx264',
      pixelFormat: 'yuv420p',
      ...CANVAS,
      frames: 4,
      paint: paintYuv(() => BACKGROUND, BT709),
      tags: PLAIN_TAGS,
      encoderOptions: { preset: 'ultrafast', qp: '2' },
    });
    const { clip } = await renderBars(path, work.path('bars.mp4'));
    const drawn = await drawBands({ canvas: CANVAS, overlays: OVERLAYS }, createRenderTools(), new Stopwatch());
    expect(drawn.bands).toHaveLength(3);
    expect(clip.frames).toHaveLength(4);
    for (const frame of clip.frames) {
      for (const band of drawn.bands) {
        // Flat parts of the bar, including its first and last row, at both edges of the frame. Compares only luma,
        // because two rows share a chroma sample.
        for (const y of [band.top, band.top + 1, band.top + band.height - 1]) {
          for (const x of [1, CANVAS.width - 2]) {
            expect(Math.abs(luma(frame.rgb(x, y)) - luma(blended(band, x, y)))).toBeLessThanOrEqual(3);
          }
        }
        // The rows next to the bar are unchanged.
        const outside = [band.top - 3, band.top + band.height + 2].filter((y) => y >= 0 && y < CANVAS.height);
        for (const y of outside) expect(distance(frame.rgb(5, y), BACKGROUND)).toBeLessThanOrEqual(3);
      }
    }
  });

  it('bars on video keep the colors of emoji and the white of the text', async () => {
    const path = work.path('flat.mp4');
    const { clip } = await renderBars(path, work.path('emoji.mp4'));
    const drawn = await drawBands({ canvas: CANVAS, overlays: OVERLAYS }, createRenderTools(), new Stopwatch());
    const [band] = drawn.bands;
    const frame = clip.frames[0];
    if (band === undefined || frame === undefined) throw new Error('nothing was drawn');
    const distances: number[] = [];
    for (let y = band.top + 4; y < band.top + band.height - 4; y += 1) {
      for (let x = 4; x < CANVAS.width - 4; x += 1) {
        const expected = blended(band, x, y);
        // Only pixels away from edges are compared, where chroma at half resolution makes no difference.
        const isFlat = [-3, 3].every(
          (step) =>
            distance(blended(band, x + step, y), expected) < 12 && distance(blended(band, x, y + step), expected) < 12,
        );
        if (!isFlat) continue;
        distances.push(distance(frame.rgb(x, y), expected));
      }
    }
    const mean = distances.reduce((sum, value) => sum + value, 0) / distances.length;
    expect(distances.length).toBeGreaterThan(2_000);
    expect(mean).toBeLessThan(3);
    expect(distances.filter((value) => value > 8).length / distances.length).toBeLessThan(0.01);
  });
});
