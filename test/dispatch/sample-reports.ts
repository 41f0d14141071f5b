// Valid reports of a worker, for tests that change one detail.

import type { ImageProbe, VideoProbe } from '../../src/engine/media/probe-schema.ts';
import type { RenderFacts } from '../../src/engine/render/render.ts';

export const IMAGE_PROBE: ImageProbe = { kind: 'image', width: 10, height: 20, isSrgb: true };

/** A clip of two seconds with audio, and a keyframe in the middle. */
export const VIDEO_PROBE: VideoProbe = {
  kind: 'video',
  format: 'mp4',
  width: 64,
  height: 48,
  durationSeconds: 2,
  claimedSeconds: 2,
  frameRate: 30,
  video: {
    index: 0,
    codec: 'h264',
    decoder: 'h264',
    timeBase: { num: 1, den: 15_360 },
    start: 0,
    lastStart: 1.97,
    end: 2,
    frames: 60,
    bitRate: 800_000,
    decoded: { width: 64, height: 48 },
    square: { width: 64, height: 48 },
    orientation: { transpose: false, flipX: false, flipY: false },
    pixelFormat: 'yuv420p',
    tags: { matrix: 'bt709', primaries: 'bt709', transfer: 'sdr', range: 'limited' },
    interlaced: false,
    peakNits: 1_000,
    needsDolbyVision: false,
  },
  audio: {
    index: 1,
    codec: 'aac',
    decoder: 'aac',
    action: 'copy',
    sampleRate: 48_000,
    channels: 2,
    start: 0,
    end: 2,
  },
  keyframes: [0],
};

export const FACTS: RenderFacts = {
  width: 10,
  height: 20,
  bars: [{ top: 2, height: 6 }],
  missingGlyphs: 0,
  warnings: [],
  timings: { decode: 1.5, encode: 20 },
};
