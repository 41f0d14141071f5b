// All kinds of clips that can be cut, and real files, rendered in segments; see segments.test.ts.

import { afterAll, describe, expect, it } from 'vitest';
import { hasSharedMedia, sharedMedia } from '../shared-media.ts';
import type { ClipOptions } from './clip.ts';
import { workDirectory } from './render-clip.ts';
import { compareClip, FRAMES, keyEvery, renderBoth, X264 } from './whole-and-segments.ts';

const work = workDirectory();
afterAll(() => work.remove());

const CLIPS: Readonly<Record<string, Partial<ClipOptions>>> = {
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
/** Frames, seconds and the time of the first frame, for files with unusual timing; see also timing.test.ts. */
const TIMING: Readonly<Record<string, readonly [number, number, number]>> = {
  'video_mp4/media__edit_list_positive_shift.mp4': [270, 10.006, 1],
  'video_real/metadataextrac__FLIR_Thermal.mp4': [84, 11.353, 0],
};
/** The minimum PSNR between two lossy encodes. A wrong frame has about half of it. */
const MIN_PSNR = 38;

describe('a video in segments', () => {
  it.each(Object.entries(CLIPS))('a video in segments equals a whole render: %s', async (name, changes) => {
    const { segments, psnr, neighborPsnr } = await compareClip(work, name, changes);
    expect(segments).toBeGreaterThan(2);
    expect(psnr).toBeGreaterThan(neighborPsnr + 10);
  });

  for (const [file, minSegments] of Object.entries(FILES)) {
    it.skipIf(!hasSharedMedia)(
      `a video in segments equals a whole render: ${file} (skipped without ../shared/media)`,
      async () => {
        const { segments, psnr, rendered } = await renderBoth(work, file.replaceAll(/\W+/gu, '-'), sharedMedia(file));
        expect(segments).toBeGreaterThanOrEqual(minSegments);
        expect(psnr.decibels).toBeGreaterThan(MIN_PSNR);
        if (TIMING[file] === undefined) return;
        const { clip, probe } = rendered;
        const [frames, seconds, firstAt] = TIMING[file];
        expect(clip.frames).toHaveLength(frames);
        expect(Math.abs(clip.seconds - seconds)).toBeLessThan(1 / probe.frameRate);
        expect(clip.frames[0]?.seconds).toBeCloseTo(firstAt, 2);
      },
    );
  }
});
