import { readFileSync, writeFileSync } from 'node:fs';
import {
  AVCOL_PRI_BT709,
  AVCOL_PRI_BT2020,
  AVCOL_PRI_SMPTE170M,
  AVCOL_RANGE_JPEG,
  AVCOL_RANGE_MPEG,
  AVCOL_SPC_BT709,
  AVCOL_SPC_BT2020_NCL,
  AVCOL_SPC_SMPTE170M,
  AVCOL_TRC_ARIB_STD_B67,
  AVCOL_TRC_BT709,
  AVCOL_TRC_SMPTE2084,
  AVCOL_TRC_SMPTE170M,
} from 'node-av/constants';
import { afterAll, describe, expect, it } from 'vitest';
import { toneMappingOf } from '../../src/engine/media/video/frames/steps.ts';
import { type ClipOptions, makeClip, PLAIN_TAGS } from './clip.ts';
import {
  BLUE,
  BT601,
  BT709,
  BT2020,
  distance,
  GREEN,
  GRAY,
  paintYuv,
  quadrants,
  RED,
  type Rgb,
  toYuv,
} from './painting.ts';
import { plainClip } from './plain-clip.ts';
import { renderClip, workDirectory } from './render-clip.ts';

const work = workDirectory();
afterAll(() => work.remove());

const WIDTH = 320;
const HEIGHT = 192;
const LOSSLESS = { preset: 'ultrafast', qp: '4' };
// x265 determines its B-frame delay from a frame that such a short clip doesn't have. Its decoding timestamps would be
// uninitialized memory, and the muxer would reject them now and then.
const LOSSLESS_X265 = { preset: 'ultrafast', 'x265-params': 'log-level=none:qp=4:bframes=0' };

function quadrantClip(name: string, changes: Partial<ClipOptions> = {}): string {
  const paint = paintYuv(quadrants(WIDTH, HEIGHT), BT709);
  const encoderOptions = LOSSLESS;
  return plainClip(work.path(name), { width: WIDTH, height: HEIGHT, paint, encoderOptions, ...changes });
}

/** Writes a display matrix to the track header, with a, b, c and d as 16.16 fixed point. */
function writeDisplayMatrix(path: string, [a, b, c, d]: readonly [number, number, number, number]): string {
  const bytes = readFileSync(path);
  const matrix = bytes.indexOf('tkhd') + 4 + 40;
  for (const [cell, value] of [a, b, 0, c, d, 0].entries()) {
    bytes.writeInt32BE(value * 65_536, matrix + cell * 4);
  }
  writeFileSync(path, bytes);
  return path;
}

describe('orientation', () => {
  const matrices = [
    ['upright', [1, 0, 0, 1]],
    ['90', [0, 1, -1, 0]],
    ['180', [-1, 0, 0, -1]],
    ['270', [0, -1, 1, 0]],
    ['mirrored', [-1, 0, 0, 1]],
    ['upside down mirrored', [1, 0, 0, -1]],
    ['90 mirrored', [0, 1, 1, 0]],
    ['270 mirrored', [0, -1, -1, 0]],
  ] as const;

  it.each(matrices)('puts every corner where the display matrix maps it: %s', async (name, [a, b, c, d]) => {
    const path = writeDisplayMatrix(quadrantClip(`rotate-${name}.mp4`), [a, b, c, d]);
    const { clip, probe } = await renderClip(path, work.path(`rotated-${name}.mp4`));
    const swapped = a === 0;
    expect([probe.width, probe.height]).toEqual(swapped ? [HEIGHT, WIDTH] : [WIDTH, HEIGHT]);
    expect([clip.width, clip.height]).toEqual([probe.width, probe.height]);
    const corners = [
      [-1, -1, RED],
      [1, -1, GREEN],
      [-1, 1, BLUE],
      [1, 1, GRAY],
    ] as const;
    for (const [x, y, color] of corners) {
      const [toX, toY] = [x * a + y * c, x * b + y * d];
      const at = [toX < 0 ? 12 : clip.width - 12, toY < 0 ? 12 : clip.height - 12] as const;
      expect(distance(clip.frames[0]?.rgb(...at) ?? [0, 0, 0], color)).toBeLessThanOrEqual(5);
    }
  });
});

describe('color', () => {
  const cases: readonly (readonly [string, Partial<ClipOptions>])[] = [
    ['BT.709 limited', {}],
    [
      'BT.601 limited',
      {
        paint: paintYuv(quadrants(WIDTH, HEIGHT), BT601),
        tags: {
          space: AVCOL_SPC_SMPTE170M,
          primaries: AVCOL_PRI_SMPTE170M,
          transfer: AVCOL_TRC_SMPTE170M,
          range: AVCOL_RANGE_MPEG,
        },
      },
    ],
    ['untagged SD, assumed to be BT.601', { paint: paintYuv(quadrants(WIDTH, HEIGHT), BT601), tags: undefined }],
    [
      'BT.709 full range',
      {
        paint: paintYuv(quadrants(WIDTH, HEIGHT), { ...BT709, full: true }),
        tags: { ...PLAIN_TAGS, range: AVCOL_RANGE_JPEG },
      },
    ],
    ['4:4:4', { pixelFormat: 'yuv444p' }],
    ['10-bit 4:2:2', { pixelFormat: 'yuv422p10le', paint: paintYuv(quadrants(WIDTH, HEIGHT), { ...BT709, bits: 10 }) }],
    [
      'ProRes, BT.601',
      {
        container: 'mov',
        codec: 'prores_ks',
        pixelFormat: 'yuv422p10le',
        paint: paintYuv(quadrants(WIDTH, HEIGHT), { ...BT601, bits: 10 }),
        encoderOptions: {},
        tags: {
          space: AVCOL_SPC_SMPTE170M,
          primaries: AVCOL_PRI_SMPTE170M,
          transfer: AVCOL_TRC_BT709,
          range: AVCOL_RANGE_MPEG,
        },
      },
    ],
    [
      'RGB',
      {
        codec: 'libx265',
        pixelFormat: 'gbrp',
        encoderOptions: LOSSLESS_X265,
        // Planes in the order green, blue, red.
        paint: (plane, x, y) => quadrants(WIDTH, HEIGHT)(x, y)[(plane + 1) % 3] ?? 0,
        tags: undefined,
      },
    ],
    [
      'BT.2020 with standard dynamic range',
      {
        pixelFormat: 'yuv420p10le',
        paint: paintYuv(() => GRAY, { ...BT2020, bits: 10 }),
        tags: {
          space: AVCOL_SPC_BT2020_NCL,
          primaries: AVCOL_PRI_BT2020,
          transfer: AVCOL_TRC_BT709,
          range: AVCOL_RANGE_MPEG,
        },
      },
    ],
  ];

  it.each(cases)('keeps the colors of a clip in %s', async (name, changes) => {
    const path = quadrantClip(`color ${name}.${changes.container ?? 'mp4'}`, changes);
    const { clip } = await renderClip(path, work.path(`colored ${name}.mp4`));
    expect(clip.codec).toBe('h264');
    expect(clip.tags).toEqual([AVCOL_SPC_BT709, AVCOL_PRI_BT709, AVCOL_TRC_BT709, AVCOL_RANGE_MPEG]);
    const corners = name.startsWith('BT.2020')
      ? ([[20, 20, GRAY]] as const)
      : ([
          [20, 20, RED],
          [300, 20, GREEN],
          [20, 170, BLUE],
          [300, 170, GRAY],
        ] as const);
    for (const [x, y, color] of corners) {
      expect(distance(clip.frames[0]?.rgb(x, y) ?? [0, 0, 0], color)).toBeLessThanOrEqual(6);
    }
  });
});

/** Takes signal values in percent, as on a waveform monitor. */
async function renderSignal(name: string, transfer: typeof AVCOL_TRC_SMPTE2084, signal: Rgb): Promise<Rgb> {
  const path = quadrantClip(`${name}.mp4`, {
    codec: 'libx265',
    pixelFormat: 'yuv420p10le',
    paint: (plane) =>
      toYuv(signal.map((value) => (value * 255) / 100) as unknown as Rgb, { ...BT2020, bits: 10 })[plane] ?? 0,
    tags: { space: AVCOL_SPC_BT2020_NCL, primaries: AVCOL_PRI_BT2020, transfer, range: AVCOL_RANGE_MPEG },
    encoderOptions: LOSSLESS_X265,
    frames: 2,
  });
  const { clip, recipe } = await renderClip(path, work.path(`${name}-out.mp4`));
  expect(toneMappingOf(recipe.video)).toBeDefined();
  return clip.frames[0]?.rgb(40, 20) ?? [0, 0, 0];
}

describe('high dynamic range', () => {
  it('maps reference white of HLG to the bright, neutral gray that browsers show', async () => {
    const [r, g, b] = await renderSignal('hlg-white', AVCOL_TRC_ARIB_STD_B67, [75, 75, 75]);
    expect(Math.abs(g - 187)).toBeLessThanOrEqual(4);
    expect(distance([r, g, b], [g, g, g])).toBeLessThanOrEqual(3);
  });

  it('maps reference white of PQ (58 %) to what browsers show, and values above the peak to white', async () => {
    const [, white] = await renderSignal('pq-white', AVCOL_TRC_SMPTE2084, [58, 58, 58]);
    expect(Math.abs(white - 187)).toBeLessThanOrEqual(4);
    const [r, g, b] = await renderSignal('pq-beyond', AVCOL_TRC_SMPTE2084, [95, 95, 95]);
    expect(Math.min(r, g, b)).toBeGreaterThan(250);
  });

  it('keeps the hue of skin tones', async () => {
    const [r, g, b] = await renderSignal('hlg-skin', AVCOL_TRC_ARIB_STD_B67, [58, 48, 42]);
    expect(r - g).toBeGreaterThan(17);
    expect(g - b).toBeGreaterThan(8);
    expect(r - b).toBeLessThan(110);
  });
});

describe('frame size and transparency', () => {
  it('crops odd sides to even ones without resampling', async () => {
    const [width, height] = [161, 99];
    const path = work.path('odd.webm');
    makeClip({
      path,
      container: 'webm',
      codec: 'libvpx-vp9',
      pixelFormat: 'yuv420p',
      width,
      height,
      paint: paintYuv(quadrants(width, height), BT601),
      encoderOptions: { crf: '4', b: '0', 'cpu-used': '8', deadline: 'realtime' },
    });
    const { clip } = await renderClip(path, work.path('even.mp4'));
    expect([clip.width, clip.height]).toEqual([160, 98]);
    expect(distance(clip.frames[0]?.rgb(158, 6) ?? [0, 0, 0], GREEN)).toBeLessThanOrEqual(10);
    expect(distance(clip.frames[0]?.rgb(6, 96) ?? [0, 0, 0], BLUE)).toBeLessThanOrEqual(10);
  });

  it('flattens transparent WebM onto black', async () => {
    const path = work.path('alpha.webm');
    makeClip({
      path,
      container: 'webm',
      codec: 'libvpx-vp9',
      pixelFormat: 'yuva420p',
      width: WIDTH,
      height: HEIGHT,
      paint: (plane, x) => (plane === 3 ? (x < 160 ? 255 : 128) : plane === 0 ? 235 : 128),
      encoderOptions: { crf: '4', b: '0', 'cpu-used': '8', deadline: 'realtime', 'auto-alt-ref': '0' },
    });
    const { clip, probe } = await renderClip(path, work.path('flat.mp4'));
    expect(probe.video.pixelFormat).toBe('yuva420p');
    expect(distance(clip.frames[0]?.rgb(30, 10) ?? [0, 0, 0], [255, 255, 255])).toBeLessThanOrEqual(4);
    expect(distance(clip.frames[0]?.rgb(290, 10) ?? [0, 0, 0], [128, 128, 128])).toBeLessThanOrEqual(6);
  });
});
