// Colors of images, compared with those that Chromium 156 shows for the same files.

import sharp from 'sharp';
import { describe, expect, it } from 'vitest';
import { renderImage } from '../src/engine/index.ts';
import { decode, pixelAt } from './pictures.ts';
import { chunk, cicp, type Color, iccProfile, iccp, numbers, pngFile } from './png-file.ts';
import { hasSharedMedia, sharedMedia } from './shared-media.ts';

const COLORS: readonly Color[] = [
  [1, 0, 0],
  [0.5, 0.5, 0.5],
  [0.8, 0.3, 0.2],
  [0.2, 0.6, 0.3],
  [0.75, 0.75, 0.75],
  [1, 1, 1],
];
const P3 = [0.3127, 0.329, 0.68, 0.32, 0.265, 0.69, 0.15, 0.06];
const SRGB = [0.3127, 0.329, 0.64, 0.33, 0.3, 0.6, 0.15, 0.06];
const UNCHANGED = '255,0,0 128,128,128 204,77,51 51,153,77 191,191,191 255,255,255';
const AS_P3 = '255,0,0 128,128,128 221,64,37 0,156,67 191,191,191 255,255,255';
const LINEAR = '255,0,0 188,188,188 231,149,124 124,203,149 224,224,224 255,255,255';

const ADOBE_RGB = iccProfile({
  name: 'Adobe RGB (1998)',
  gamma: 2.2,
  primaries: [
    [0.60974, 0.31111, 0.01947],
    [0.20528, 0.62567, 0.06087],
    [0.14919, 0.06322, 0.74457],
  ],
});
const DISPLAY_P3 = iccProfile({
  name: 'Display P3',
  gamma: 2.2,
  primaries: [
    [0.51512, 0.2412, -0.00105],
    [0.29198, 0.69225, 0.04189],
    [0.1571, 0.06657, 0.78407],
  ],
});
const GRAY: Color = [0.5, 0.5, 0.5];

async function rendered(source: Buffer | string, points: readonly (readonly [number, number])[]): Promise<number[][]> {
  const pixels = await decode((await renderImage(source, 'a')).bytes);
  return points.map(([x, y]) => pixelAt(pixels, x, y).slice(0, 3));
}

async function columnsOf(source: Buffer, count = COLORS.length): Promise<number[][]> {
  return await rendered(
    source,
    Array.from({ length: count }, (_, column) => [column * 8 + 4, 2] as const),
  );
}

/** Returns the largest difference of any channel. */
function farthest(actual: number[][], expected: string): number {
  const wanted = expected.split(/[ ,]/u).map(Number);
  return Math.max(...actual.flat().map((value, index) => Math.abs(value - (wanted[index] ?? Number.NaN))));
}

describe('a 16-bit PNG with a color profile', () => {
  it.each([
    ['Adobe RGB', ADOBE_RGB],
    ['Display P3', DISPLAY_P3],
  ])('a 16-bit PNG with a color profile has the same colors as its 8-bit twin: %s', async (_name, profile) => {
    const deep = await columnsOf(pngFile(COLORS, 16, [iccp(profile)]));
    const twin = await columnsOf(pngFile(COLORS, 8, [iccp(profile)]));
    expect(farthest(deep, twin.map((color) => color.join(',')).join(' '))).toBeLessThanOrEqual(2);
    expect(deep[0]).toEqual([255, 0, 0]);
  });

  it('a gray 16-bit PNG with a color profile has the same tones as its 8-bit twin', async () => {
    const linear = iccp(iccProfile({ name: 'Linear gray', gamma: 1 }));
    expect(farthest(await columnsOf(pngFile([[0.5]], 16, [linear]), 1), '188,188,188')).toBeLessThanOrEqual(1);
    expect(farthest(await columnsOf(pngFile([[0.5]], 8, [linear]), 1), '188,188,188')).toBeLessThanOrEqual(1);
  });
});

describe('a PNG that describes its colors in chunks', () => {
  it.each([
    ['cICP with Display P3', [cicp(12, 13)], AS_P3],
    ['cICP with the curve of BT.709', [cicp(1, 1)], '255,0,0 121,121,121 201,67,40 40,147,67 187,187,187 255,255,255'],
    ['cICP with SDR in BT.2020', [cicp(9, 14)], '255,0,0 121,121,121 248,0,20 0,155,51 187,187,187 255,255,255'],
    [
      'cICP with the primaries of digital cinema',
      [cicp(11, 13)],
      '255,0,0 128,128,128 216,65,38 0,156,67 191,191,191 255,255,255',
    ],
    ['cICP before iCCP', [cicp(12, 13), iccp(ADOBE_RGB)], AS_P3],
    ['cICP with sRGB before iCCP', [cicp(1, 13), iccp(ADOBE_RGB)], UNCHANGED],
    ['cICP before sRGB and gAMA', [cicp(12, 13), chunk('sRGB', Buffer.of(0)), numbers('gAMA', [1])], AS_P3],
    ['sRGB before gAMA and cHRM', [numbers('gAMA', [1]), numbers('cHRM', P3), chunk('sRGB', Buffer.of(0))], UNCHANGED],
    ['gAMA alone', [numbers('gAMA', [1])], LINEAR],
    [
      'gAMA and cHRM',
      [numbers('gAMA', [0.45455]), numbers('cHRM', P3)],
      '255,0,0 129,129,129 222,63,32 0,157,65 192,192,192 255,255,255',
    ],
    ['gAMA and cHRM of sRGB', [numbers('gAMA', [0.45455]), numbers('cHRM', SRGB)], UNCHANGED],
    ['cHRM alone', [numbers('cHRM', P3)], UNCHANGED],
    ['cICP with unknown code points', [cicp(2, 2)], UNCHANGED],
    ['cICP with limited range', [cicp(12, 13, 0)], UNCHANGED],
    ['a gAMA of zero', [numbers('gAMA', [0])], UNCHANGED],
  ])(
    'a PNG that describes its colors in chunks has the colors that browsers show: %s',
    async (_name, chunks, expected) => {
      expect(farthest(await columnsOf(pngFile(COLORS, 8, chunks)), expected)).toBeLessThanOrEqual(1);
      expect(farthest(await columnsOf(pngFile(COLORS, 16, chunks)), expected)).toBeLessThanOrEqual(2);
    },
  );

  it('a PNG that describes its colors in chunks uses iCCP before sRGB and gAMA', async () => {
    const profileOnly = await columnsOf(pngFile(COLORS, 8, [iccp(ADOBE_RGB)]));
    const both = await columnsOf(
      pngFile(COLORS, 8, [iccp(ADOBE_RGB), chunk('sRGB', Buffer.of(0)), numbers('gAMA', [1])]),
    );
    expect(both).toEqual(profileOnly);
  });
});

describe('an HDR still', () => {
  const hdr = (transfer: number): Buffer =>
    iccProfile({
      name: 'HDR',
      gamma: 2.2,
      primaries: [
        [0.6734, 0.279, -0.0019],
        [0.1657, 0.6753, 0.03],
        [0.1251, 0.0456, 0.7968],
      ],
      cicp: [9, transfer],
    });

  it.each([
    ['PQ', 16, 0.58],
    ['HLG', 18, 0.75],
  ])(
    'an HDR still in %s shows reference white as the neutral tone that browsers show',
    async (_name, transfer, white) => {
      for (const bits of [8, 16] as const) {
        const [color = []] = await columnsOf(pngFile([[white, white, white]], bits, [cicp(9, transfer)]), 1);
        expect(Math.max(...color) - Math.min(...color)).toBeLessThanOrEqual(1);
        expect(Math.abs((color[0] ?? 0) - 187)).toBeLessThanOrEqual(4);
      }
    },
  );

  it.each([
    ['by the code points of the profile', (transfer: number) => hdr(transfer)],
    [
      'by the name of the profile',
      (transfer: number) =>
        iccProfile({
          name: `Rec. ITU-R BT.2100 ${transfer === 16 ? 'PQ' : 'HLG'}`,
          gamma: 1,
          primaries: [
            [0.6734, 0.279, -0.0019],
            [0.1657, 0.6753, 0.03],
            [0.1251, 0.0456, 0.7968],
          ],
        }),
    ],
  ])('an HDR still as JPEG has the same colors as the PNG: %s', async (_name, profileFor) => {
    for (const transfer of [16, 18]) {
      const colors: readonly Color[] = [GRAY, [0.6, 0.5, 0.4], [0.75, 0.75, 0.75]];
      const plain = pngFile(colors, 8);
      const png = await columnsOf(pngFile(colors, 8, [cicp(9, transfer)]), 3);
      const jpeg = await sharp(plain).jpeg({ quality: 100, chromaSubsampling: '4:4:4' }).toBuffer();
      const tagged = insertProfile(jpeg, profileFor(transfer));
      expect(farthest(await columnsOf(tagged, 3), png.map((color) => color.join(',')).join(' '))).toBeLessThanOrEqual(
        5,
      );
    }
  });

  /** Inserts the profile as an APP2 segment directly after the start of the image. */
  function insertProfile(jpeg: Buffer, profile: Buffer): Buffer {
    const content = Buffer.concat([Buffer.from('ICC_PROFILE\0\x01\x01', 'latin1'), profile]);
    const segment = Buffer.alloc(4);
    segment.writeUInt16BE(0xffe2, 0);
    segment.writeUInt16BE(content.length + 2, 2);
    return Buffer.concat([jpeg.subarray(0, 2), segment, content, jpeg.subarray(2)]);
  }
});

describe('a PNG with an unknown ancillary chunk', () => {
  it.each(['ab1d', 'abcd', '1bCd'.replace('1', 'é'), 'a bd', 'abCd'])(
    'a PNG with an unknown ancillary chunk is rendered, whatever the name of the chunk: %s',
    async (type) => {
      expect(
        farthest(await columnsOf(pngFile(COLORS, 8, [chunk(type, Buffer.from('anything'))])), UNCHANGED),
      ).toBeLessThanOrEqual(1);
    },
  );

  it('a PNG with an unknown critical chunk is refused', async () => {
    const source = pngFile(COLORS, 8, [chunk('ABCD', Buffer.from('anything'))]);
    await expect(renderImage(source, 'a')).rejects.toMatchObject({ code: 'asset_undecodable' });
  });
});

describe.skipIf(!hasSharedMedia)('CMYK without a profile (skipped without ../shared/media)', () => {
  it('CMYK without a profile has the colors that browsers show', async () => {
    const source = sharedMedia('jpeg_variants/sharp__Channel_digital_image_CMYK_color_no_profile.jpg');
    const points = [
      [10, 10],
      [50, 50],
      [90, 30],
      [70, 80],
      [30, 60],
    ] as const;
    expect(
      farthest(await rendered(source, points), '62,74,45 143,155,151 57,69,76 41,51,51 182,201,197'),
    ).toBeLessThanOrEqual(2);
  });
});
