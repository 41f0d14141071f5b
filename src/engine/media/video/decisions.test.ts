import { describe, expect, it } from 'vitest';
import { type ColorTags, effectiveTags, treatmentFor } from './frames/color.ts';
import { encoderSettings } from './frames/encoding.ts';
import { frameGeometry } from './frames/geometry.ts';
import { filterSteps } from './frames/steps.ts';
import { shownSignal, toneCurve } from './frames/tone-curve.ts';
import { readOrientation, UPRIGHT } from './probe/orientation.ts';
import { outputTimeBase, startOffset } from './probe/timing.ts';
import { aacFormat } from './sound/aac.ts';

const HD = { width: 1920, height: 1080 };
const SD = { width: 640, height: 480 };
const UNTAGGED: ColorTags = { matrix: 'unspecified', primaries: 'unspecified', transfer: 'sdr', range: 'limited' };

function matrix(...cells: readonly number[]): Buffer {
  const buffer = Buffer.alloc(36);
  for (const [index, cell] of cells.entries()) buffer.writeInt32LE(cell * 65_536, index * 4);
  return buffer;
}

describe('readOrientation', () => {
  it.each([
    [[1, 0, 0, 0, 1], UPRIGHT],
    [[0, 1, 0, -1, 0], { transpose: true, flipX: true, flipY: false }],
    [[-1, 0, 0, 0, -1], { transpose: false, flipX: true, flipY: true }],
    [[0, -1, 0, 1, 0], { transpose: true, flipX: false, flipY: true }],
    [[-1, 0, 0, 0, 1], { transpose: false, flipX: true, flipY: false }],
    [[0, 1, 0, 1, 0], { transpose: true, flipX: false, flipY: false }],
  ])('reads the matrix %j as %j', (cells, expected) => {
    expect(readOrientation(matrix(...cells))).toEqual(expected);
  });

  it('treats a missing, truncated or all-zero matrix as upright', () => {
    for (const bytes of [null, Buffer.alloc(8), Buffer.alloc(36)]) expect(readOrientation(bytes)).toEqual(UPRIGHT);
  });
});

describe('frameGeometry', () => {
  const sideways = { transpose: true, flipX: true, flipY: false };

  it.each([
    [HD, { num: 1, den: 1 }, UPRIGHT, HD],
    [HD, { num: 0, den: 1 }, sideways, { width: 1080, height: 1920 }],
    [{ width: 1440, height: 1080 }, { num: 4, den: 3 }, UPRIGHT, HD],
    [{ width: 720, height: 480 }, { num: 10, den: 11 }, UPRIGHT, { width: 720, height: 528 }],
    [{ width: 1440, height: 1080 }, { num: 4, den: 3 }, sideways, { width: 1080, height: 1920 }],
    [{ width: 559, height: 443 }, { num: 1, den: 1 }, UPRIGHT, { width: 558, height: 442 }],
    [HD, { num: 1001, den: 1000 }, UPRIGHT, HD],
    [{ width: 1, height: 1 }, { num: 1, den: 1 }, UPRIGHT, { width: 2, height: 2 }],
  ])('maps %j with pixel aspect %j and orientation %j to %j', (decoded, pixelAspect, orientation, canvas) => {
    expect(frameGeometry(decoded, pixelAspect, orientation).canvas).toEqual(canvas);
  });
});

describe('color', () => {
  it('fills in missing tags the way players do', () => {
    expect(effectiveTags(UNTAGGED, 'yuv420p', 'h264', HD).matrix).toBe('bt709');
    expect(effectiveTags(UNTAGGED, 'yuv420p', 'h264', SD).matrix).toBe('bt601');
    expect(effectiveTags(UNTAGGED, 'yuvj420p', 'h264', SD).range).toBe('full');
    expect(effectiveTags(UNTAGGED, 'gbrp', 'h264', HD)).toMatchObject({ matrix: 'rgb', range: 'full' });
    expect(effectiveTags({ ...UNTAGGED, transfer: 'hlg' }, 'yuv420p10le', 'hevc', HD)).toMatchObject({
      matrix: 'bt2020',
      primaries: 'bt2020',
    });
  });

  it.each([
    ['vp8', 'bt709'],
    ['vp9', 'bt601'],
    ['av1', 'bt601'],
    ['h264', 'bt709'],
  ])('takes the matrix that browsers take for untagged HD in %s: %s', (codec, expected) => {
    expect(effectiveTags(UNTAGGED, 'yuv420p', codec, HD).matrix).toBe(expected);
  });

  it.each([
    [{ ...UNTAGGED, matrix: 'bt709' }, 'yuv420p', 'keep'],
    [{ ...UNTAGGED, matrix: 'bt709' }, 'yuv422p10le', 'matrix'],
    [{ ...UNTAGGED, matrix: 'bt709', range: 'full' }, 'yuv420p', 'matrix'],
    [{ ...UNTAGGED, matrix: 'bt709', primaries: 'p3' }, 'yuv420p', 'gamut'],
    [{ ...UNTAGGED, matrix: 'bt2020', transfer: 'pq' }, 'yuv420p10le', 'tonemap'],
  ] as const)('treats %j in %s with %s', (tags, pixelFormat, treatment) => {
    expect(treatmentFor(tags, pixelFormat)).toBe(treatment);
  });

  it('applies only the final format filter to a BT.709 4:2:0 clip', () => {
    const steps = filterSteps({
      decoded: HD,
      square: HD,
      orientation: UPRIGHT,
      pixelFormat: 'yuv420p',
      tags: { ...UNTAGGED, matrix: 'bt709' },
      interlaced: false,
      peakNits: 1_000,
      needsDolbyVision: false,
    });
    expect(steps.map(({ filter }) => filter)).toEqual(['format']);
  });

  it.each([
    ['hlg', 0.5, 99],
    ['hlg', 0.58, 120],
    ['hlg', 0.75, 187],
    ['hlg', 0.9, 234],
    ['pq', 0.2, 18],
    ['pq', 0.5, 131],
    ['pq', 0.58, 187],
    ['pq', 0.75, 254],
  ] as const)('shows a gray of %s %f within 8 levels of what Chromium shows: %i', (transfer, signal, level) => {
    expect(Math.abs(shownSignal(transfer, signal) * 255 - level)).toBeLessThanOrEqual(8);
  });

  it('maps HDR with a curve that is monotonic and ends at white', () => {
    for (const [transfer, peak] of [
      ['pq', 400],
      ['pq', 1_000],
      ['pq', 4_000],
      ['hlg', 1_000],
    ] as const) {
      const heights = toneCurve(transfer, peak).map(([, y]) => y);
      expect(heights[0]).toBeCloseTo(0, 3);
      expect(heights.at(-1)).toBeCloseTo(1, 2);
      expect(heights.every((y, index) => index === 0 || y >= (heights[index - 1] ?? 0) - 1e-9)).toBe(true);
    }
  });
});

describe('encoderSettings', () => {
  it('limits the bit rate relative to the source, depending on its codec', () => {
    expect(encoderSettings(HD, 30, { codec: 'h264', bitRate: 10_000_000 }).maxRate).toBe(15_000_000);
    expect(encoderSettings(HD, 30, { codec: 'hevc', bitRate: 10_000_000 }).maxRate).toBe(20_000_000);
    expect(encoderSettings(HD, 30, { codec: 'av1', bitRate: 10_000_000 }).maxRate).toBe(25_000_000);
  });

  it('always allows the bit rate that sharp text needs', () => {
    expect(encoderSettings(HD, 30, { codec: 'h264', bitRate: 10_000 }).maxRate).toBeGreaterThan(2_000_000);
    expect(encoderSettings({ width: 32, height: 32 }, 1, { codec: 'h264', bitRate: 0 }).maxRate).toBe(200_000);
  });
});

describe('timing', () => {
  it('keeps the time base of the source where MP4 supports it', () => {
    expect(outputTimeBase({ num: 1, den: 90_000 })).toEqual({ num: 1, den: 90_000 });
    expect(outputTimeBase({ num: 1, den: 1_000_000_000 })).toEqual({ num: 1, den: 90_000 });
    expect(outputTimeBase({ num: 0, den: 1 })).toEqual({ num: 1, den: 90_000 });
  });

  it('subtracts the start time that video and audio have in common', () => {
    expect(startOffset(10, 10.1)).toBe(10);
    expect(startOffset(1, 0)).toBe(0);
    expect(startOffset(0, -0.02)).toBe(0);
    expect(startOffset(-0.5, 0)).toBe(-0.5);
    expect(startOffset(3, undefined)).toBe(3);
  });
});

describe('aacFormat', () => {
  it.each([
    [
      { sampleRate: 48_000, channels: 2 },
      { sampleRate: 48_000, channels: 2, bitRate: 192_000 },
    ],
    [
      { sampleRate: 96_000, channels: 6 },
      { sampleRate: 48_000, channels: 6, bitRate: 576_000 },
    ],
    [
      { sampleRate: 44_100, channels: 8 },
      { sampleRate: 44_100, channels: 2, bitRate: 192_000 },
    ],
    [
      { sampleRate: 8_000, channels: 1 },
      { sampleRate: 8_000, channels: 1, bitRate: 32_000 },
    ],
  ])('encodes %j as %j', (source, format) => {
    expect(aacFormat(source)).toEqual(format);
  });
});
