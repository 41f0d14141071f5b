// Longer clips than those in timing.test.ts.

import { afterAll, describe, expect, it } from 'vitest';
import { hasSharedMedia, sharedMedia } from '../shared-media.ts';
import { renderClip, workDirectory } from './render-clip.ts';

const work = workDirectory();
afterAll(() => work.remove());

describe.skipIf(!hasSharedMedia)('timing of real clips (skipped without ../shared/media)', () => {
  it.each([
    ['video_mp4/media__edit_list_positive_shift.mp4', 270, 10.006, 1],
    ['video_real/metadataextrac__FLIR_Thermal.mp4', 84, 11.353, 0],
  ])('matches the source: %s has %i frames in %f seconds', async (name, frames, seconds, firstAt) => {
    const { clip: rendered, probe } = await renderClip(sharedMedia(name), work.path('sample.mp4'));
    expect(rendered.frames).toHaveLength(frames);
    expect(Math.abs(rendered.seconds - seconds)).toBeLessThan(1 / probe.frameRate);
    expect(rendered.frames[0]?.seconds).toBeCloseTo(firstAt, 2);
  });
});
