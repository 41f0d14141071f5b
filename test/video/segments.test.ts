// A video that is rendered in segments and joined equals the one from a single render. The file whose name has `slow` in
// it compares many more clips.

import { readFileSync, writeFileSync } from 'node:fs';
import { afterAll, describe, expect, it } from 'vitest';
import { AppError } from '../../src/errors.ts';
import { type VideoSegment, segmentsBetween } from '../../src/media/video/segments/plan.ts';
import type { ClipOptions } from './clip.ts';
import { plainClip } from './plain-clip.ts';
import { renderClip, workDirectory } from './render-clip.ts';
import { renderInSegments } from './seams.ts';
import { compareClip, FRAMES, keyEvery, paint, X264 } from './whole-and-segments.ts';

const work = workDirectory();
afterAll(() => work.remove());

const CLIPS: Readonly<Record<string, Partial<ClipOptions>>> = {
  'H.264 with B-frames': { encoderOptions: X264 },
  'VP9 in WebM': {
    container: 'webm',
    codec: 'libvpx-vp9',
    encoderOptions: { deadline: 'good', 'cpu-used': '5', g: '40', 'auto-alt-ref': '1', 'lag-in-frames': '20' },
  },
  'copied audio': { encoderOptions: X264, audio: { codec: 'aac', seconds: 5, sampleRate: 48_000 } },
};

describe('a video in segments', () => {
  it.each(Object.entries(CLIPS))('a video in segments equals a whole render: %s', async (name, changes) => {
    const { segments, psnr, neighborPsnr } = await compareClip(work, name, changes);
    expect(segments).toBeGreaterThan(2);
    expect(psnr).toBeGreaterThan(neighborPsnr + 10);
  });

  it('a video is not cut when it is interlaced or its codec has packets without a frame', async () => {
    const interlaced = { ...X264, 'x264-params': `${keyEvery(40)}:interlaced=1` };
    const paths = [
      plainClip(work.path('interlaced'), { paint, frames: FRAMES, encoderOptions: interlaced }),
      plainClip(work.path('vp8'), {
        paint,
        frames: FRAMES,
        container: 'webm',
        codec: 'libvpx',
        encoderOptions: { g: '40' },
      }),
    ];
    for (const path of paths) expect((await renderClip(path, `${path}.mp4`)).recipe.cuts).toEqual([]);
  });

  it('a video in segments fails with an internal error rather than returning a wrong video', async () => {
    const path = plainClip(work.path('inconsistent'), { paint, frames: FRAMES, encoderOptions: X264 });
    const { recipe } = await renderClip(path, work.path('inconsistent-whole.mp4'));
    const segments = segmentsBetween(recipe.cuts, recipe.video.frames);
    const attempt = (name: string, changed: readonly VideoSegment[]): Promise<unknown> =>
      renderInSegments(recipe, changed, path, work.path(name));
    await expect(
      attempt(
        'late.mp4',
        segments.map((segment) => ({ ...segment, decodeTo: 60 })),
      ),
    ).rejects.toThrow(/frames/u);
    await expect(attempt('missing.mp4', segments.toReversed())).rejects.toThrow(/does not start where it should/u);
    const damaged = work.path('damaged');
    const bytes = readFileSync(path);
    writeFileSync(damaged, bytes.fill(0xa5, 12_000, 12_400));
    await expect(renderInSegments(recipe, segments, damaged, work.path('damaged.mp4'))).rejects.not.toBeInstanceOf(
      AppError,
    );
  });
});
