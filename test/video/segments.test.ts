// A video that is rendered in segments and joined equals the one from a single render: the same frame times, audio
// bytes and track parameters. Frames may differ as much as between two lossy encodes, also at a seam.

import { readFileSync, writeFileSync } from 'node:fs';
import { afterAll, describe, expect, it } from 'vitest';
import { AppError } from '../../src/errors.ts';
import { type VideoSegment, segmentsBetween } from '../../src/media/video/segments/cuts.ts';
import { hasSharedMedia, sharedMedia } from '../shared-media.ts';
import type { ClipOptions } from './clip.ts';
import { BT709, paintYuv } from './painting.ts';
import { plainClip } from './plain-clip.ts';
import { renderClip, workDirectory } from './render-clip.ts';
import { highestPsnrOfNeighbors, lowestPsnr, renderInSegments, structureOf } from './seams.ts';

const work = workDirectory();
afterAll(() => work.remove());

/** Changes fast enough that no two consecutive frames look alike. */
const paint = paintYuv((x, y, frame) => [(x * 2 + frame * 23) % 256, (y * 3 + frame * 31) % 256, 120], BT709);
const FRAMES = 160;

/** Renders a clip as a whole and cut at every possible place, and compares the files. */
async function renderBoth(name: string, path: string) {
  const [whole, joined] = [work.path(`${name}-whole.mp4`), work.path(`${name}-joined.mp4`)];
  const { recipe, facts } = await renderClip(path, whole);
  const segments = segmentsBetween(recipe.cuts, recipe.video.frames);
  const joinedFacts = await renderInSegments(recipe, segments, path, joined);
  expect(joinedFacts.frames).toBe(facts.frames);
  expect(joinedFacts.durationSeconds).toBeCloseTo(facts.durationSeconds, 6);
  const [expected, actual] = [structureOf(whole), structureOf(joined)];
  // Only the keyframes may differ: there is one at every seam.
  expect({ ...actual, keyframes: expected.keyframes }).toEqual(expected);
  expect(actual.keyframes.length).toBeGreaterThanOrEqual(segments.length);
  return { whole, segments: segments.length, psnr: lowestPsnr(whole, joined) };
}

const keyEvery = (frames: number): string => `keyint=${frames}:min-keyint=${frames}:scenecut=0`;
const X264 = { preset: 'medium', 'x264-params': `${keyEvery(40)}:bframes=3` };

const CLIPS: Readonly<Record<string, Partial<ClipOptions>>> = {
  'H.264 with B-frames': { encoderOptions: X264 },
  'H.264 with open GOPs': { encoderOptions: { ...X264, 'x264-params': `${keyEvery(40)}:bframes=3:open-gop=1` } },
  'H.264 without B-frames': { encoderOptions: { ...X264, 'x264-params': `${keyEvery(40)}:bframes=0` } },
  'H.264 with only keyframes': { encoderOptions: { ...X264, 'x264-params': keyEvery(1) } },
  'H.264 in a fragmented MP4': { encoderOptions: X264, muxerOptions: { movflags: 'frag_keyframe+empty_moov' } },
  'H.264 with intra refresh': {
    encoderOptions: { ...X264, 'x264-params': 'keyint=40:intra-refresh=1:bframes=3' },
  },
  'HEVC with open GOPs': {
    codec: 'libx265',
    encoderOptions: { preset: 'fast', 'x265-params': `${keyEvery(40)}:open-gop=1:bframes=4:log-level=none` },
  },
  'VP9 in WebM': {
    container: 'webm',
    codec: 'libvpx-vp9',
    encoderOptions: { deadline: 'good', 'cpu-used': '5', g: '40', 'auto-alt-ref': '1', 'lag-in-frames': '20' },
  },
  'a variable frame rate': {
    encoderOptions: X264,
    timeBase: { num: 1, den: 1000 },
    pts: Array.from({ length: FRAMES }, (_, index) => index * 33 + ((index * index) % 29)),
  },
  'a start at five seconds': {
    encoderOptions: X264,
    timeBase: { num: 1, den: 1000 },
    pts: Array.from({ length: FRAMES }, (_, index) => 5_000 + index * 33),
    muxerOptions: { use_editlist: '0' },
  },
  'an edit list that hides the start': {
    encoderOptions: X264,
    pts: Array.from({ length: FRAMES }, (_, index) => index - 25),
    muxerOptions: { avoid_negative_ts: 'disabled' },
  },
  'copied audio': { encoderOptions: X264, audio: { codec: 'aac', seconds: 5, sampleRate: 48_000 } },
  'encoded audio': {
    container: 'mov',
    encoderOptions: X264,
    audio: { codec: 'pcm_s16le', seconds: 5.2, sampleRate: 44_100 },
  },
};

/** Files and their minimum number of segments. The manifest of the media describes the files. */
const FILES: Readonly<Record<string, number>> = {
  'video_mp4/media__bbb_800x640_768kbps_30fps_avc_pyramid_3b.mp4': 4,
  'video_mp4/media__edit_list_positive_shift.mp4': 2,
  'video_mp4/shakapackager__bear-640x360.mp4': 2,
  'video_mp4/torchcodec__nasa_13013.mp4': 2,
  'video_mp4/wpt__test.mp4': 4,
  'video_real/metadataextrac__FLIR_Thermal.mp4': 3,
  'video_real/samplevideos__car-detection.mp4': 7,
  'video_rotation/media__internal_emulator_transformer_output_270_rotated.mp4': 4,
  'video_webm/media__bbb_642x642_768kbps_30fps_vp9.webm': 2,
};
/** The minimum PSNR between two lossy encodes. A wrong frame has about half of it. */
const MIN_PSNR = 38;

describe('a video in segments', { timeout: 180_000 }, () => {
  for (const [name, changes] of Object.entries(CLIPS)) {
    it(`equals a whole render: ${name}`, async () => {
      const file = name.replaceAll(/\W+/gu, '-');
      const path = plainClip(work.path(file), { paint, frames: FRAMES, width: 128, height: 96, ...changes });
      const { whole, segments, psnr } = await renderBoth(file, path);
      expect(segments).toBeGreaterThan(2);
      expect(psnr.decibels).toBeGreaterThan(highestPsnrOfNeighbors(whole) + 10);
    });
  }

  for (const [file, minSegments] of Object.entries(FILES)) {
    it.skipIf(!hasSharedMedia)(`equals a whole render: ${file} (skipped without ../shared/media)`, async () => {
      const { segments, psnr } = await renderBoth(file.replaceAll(/\W+/gu, '-'), sharedMedia(file));
      expect(segments).toBeGreaterThanOrEqual(minSegments);
      expect(psnr.decibels).toBeGreaterThan(MIN_PSNR);
    });
  }

  it('is not cut when it is interlaced or its codec has packets without a frame', async () => {
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

  it('fails with an internal error rather than returning a wrong video', async () => {
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
