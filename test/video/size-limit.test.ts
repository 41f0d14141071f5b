// `max_bytes` of videos.

import { existsSync, statSync } from 'node:fs';
import { afterAll, describe, expect, it } from 'vitest';
import { probeVideo } from '../../src/engine/media/video/probe/probe.ts';
import { composeVideoRecipe, DEFAULT_VIDEO_LIMITS } from '../../src/engine/render/video-recipe.ts';
import { plainClip } from './plain-clip.ts';
import { CAPTION, type RenderedClip, renderClip, workDirectory } from './render-clip.ts';

const work = workDirectory();
afterAll(() => work.remove());

/** Noise that moves, which no encoder can predict. */
function noisyClip(name: string, frames: number): string {
  const paint = (plane: number, x: number, y: number, frame: number): number =>
    plane === 0 ? 40 + (((x * 7919 + y * 104_729 + frame * 1_299_709) % 1_009) * 160) / 1_009 : 128;
  return plainClip(work.path(name), {
    width: 320,
    height: 240,
    frames,
    paint,
    encoderOptions: { preset: 'ultrafast', qp: '12' },
  });
}

/** Returns noise without any pattern, by mixing the bits of the place and the frame. */
function randomByte(x: number, y: number, frame: number): number {
  const mixed = Math.imul(
    Math.imul(x, 374_761_393) ^ Math.imul(y, 668_265_263) ^ Math.imul(frame, 1_274_126_177),
    2_246_822_519,
  );
  return Math.imul(mixed ^ (mixed >>> 15), 3_266_489_917) >>> 24;
}

async function within(path: string, name: string, maxBytes: number): Promise<RenderedClip & { bytes: number }> {
  const probe = probeVideo(path, 'mp4', { maxSide: 4_096 });
  const rendered = await renderClip(path, work.path(name), CAPTION, {}, () =>
    composeVideoRecipe(probe, CAPTION, DEFAULT_VIDEO_LIMITS, { maxBytes }),
  );
  return { ...rendered, bytes: statSync(work.path(name)).size };
}

describe('max_bytes of a video', () => {
  it.each([
    [24, [0.8, 0.5]],
    [200, [0.8, 0.4, 0.15]],
  ] as const)('is met by a video of %i frames, which uses at least 80 %% of it', async (frames, shares) => {
    const path = noisyClip(`noise-${frames}.mp4`, frames);
    const free = await renderClip(path, work.path(`free-${frames}.mp4`));
    const full = statSync(work.path(`free-${frames}.mp4`)).size;
    for (const share of shares) {
      const limit = Math.max(20_000, Math.round(full * share));
      const { bytes, facts, clip } = await within(path, `limited-${frames}-${share}.mp4`, limit);
      expect(bytes).toBeLessThanOrEqual(limit);
      expect(bytes).toBeGreaterThanOrEqual(limit * 0.8);
      expect(facts.quality).toBeGreaterThan(19);
      expect(clip.frames.length).toBe(free.clip.frames.length);
    }
  });

  it('is a video as without it if that fits, and no statistics remain', async () => {
    const path = noisyClip('fits.mp4', 12);
    const { facts, bytes } = await within(path, 'fits-limited.mp4', 5_000_000);
    const free = await renderClip(path, work.path('fits-free.mp4'));
    expect(facts.quality).toBe(19);
    // The encoder collects statistics for a second try, which changes a few bytes.
    expect(bytes / statSync(work.path('fits-free.mp4')).size).toBeCloseTo(1, 2);
    expect(free.facts.quality).toBeUndefined();
    expect(existsSync(work.path('fits-limited.mp4.statistics'))).toBe(false);
    expect(existsSync(work.path('fits-limited.mp4.statistics.mbtree'))).toBe(false);
  });

  it('is refused before encoding when it is hopeless, and afterwards when even the lowest quality is too large', async () => {
    const path = plainClip(work.path('hopeless.mp4'), {
      width: 800,
      height: 600,
      frames: 60,
      paint: (plane, x, y, frame) => (plane === 0 ? randomByte(x, y, frame) : 128),
      encoderOptions: { preset: 'ultrafast', qp: '20' },
    });
    const probe = probeVideo(path, 'mp4', { maxSide: 4_096 });
    const long = { ...probe, video: { ...probe.video, frames: 100_000 } };
    expect(() => composeVideoRecipe(long, CAPTION, DEFAULT_VIDEO_LIMITS, { maxBytes: 20_000 })).toThrow(
      'max_bytes is 20000',
    );
    await expect(within(path, 'too-large.mp4', 20_000)).rejects.toThrow('max_bytes is 20000');
  });
});
