import sharp from 'sharp';
import { describe, expect, it } from 'vitest';
import { grayProfile, withProfile } from '../../../../test/icc-samples.ts';
import { must } from '../../../shared/must.ts';
import { colorProfileOf } from './gray-profile.ts';
import { conversionToProfile } from './profile-colors.ts';

/** A profile that the image decoder knows by name. */
async function knownProfile(name: string): Promise<Buffer> {
  const image = sharp({ create: { width: 1, height: 1, channels: 3, background: '#fff' } });
  const { icc } = await sharp(await image.withIccProfile(name).png().toBuffer()).metadata();
  return must(icc, 'profile');
}

function converted(profile: Buffer, components: number, ...colors: readonly number[][]): number[][] {
  const convert = must(conversionToProfile(profile, components), 'conversion');
  const bytes = Uint8Array.from(colors.flat());
  convert(new Int32Array(bytes.buffer));
  return colors.map((_, index) => [...bytes.subarray(index * 4, index * 4 + 4)]);
}

describe('conversionToProfile', () => {
  it('converts colors to Display P3, keeps grays and alpha, and leaves transparent pixels alone', async () => {
    const [red, white, gray, clear] = converted(
      await knownProfile('p3'),
      3,
      [255, 0, 0, 255],
      [255, 255, 255, 200],
      [128, 128, 128, 255],
      [1, 2, 3, 0],
    );
    // What other color management gives for sRGB red.
    const expected = [234, 51, 35, 255];
    for (const [index, value] of expected.entries()) expect(Math.abs((red?.[index] ?? 0) - value)).toBeLessThan(3);
    expect([white, gray, clear]).toEqual([
      [255, 255, 255, 200],
      [128, 128, 128, 255],
      [1, 2, 3, 0],
    ]);
  });

  it('leaves colors as they are for an sRGB profile', async () => {
    const colors = [
      [255, 0, 0, 255],
      [12, 200, 99, 255],
      [3, 2, 1, 255],
    ];
    const result = converted(await knownProfile('srgb'), 3, ...colors);
    for (const [index, color] of colors.entries()) {
      for (const [channel, value] of color.entries()) {
        expect(Math.abs((result[index]?.[channel] ?? 0) - value)).toBeLessThan(2);
      }
    }
  });

  it('converts grays to the tone curve of a gray profile', () => {
    const [middle, white, black] = converted(
      grayProfile(1),
      1,
      [128, 128, 128, 255],
      [255, 255, 255, 255],
      [0, 0, 0, 90],
    );
    // The light of sRGB 128 is 0.2159.
    expect(middle).toEqual([55, 55, 55, 255]);
    expect([white, black]).toEqual([
      [255, 255, 255, 255],
      [0, 0, 0, 90],
    ]);
  });

  it('refuses profiles with tables, of other color spaces, for other images, too large ones and parts of one', async () => {
    const p3 = await knownProfile('p3');
    const table = Buffer.from(p3);
    table.write('A2B0', 132, 'latin1');
    const inks = Buffer.from(p3);
    inks.write('CMYK', 16, 'latin1');
    const large = Buffer.concat([p3, Buffer.alloc(65_536)]);
    expect(conversionToProfile(p3, 3)).toBeDefined();
    expect(conversionToProfile(p3, 1)).toBeUndefined();
    expect(conversionToProfile(grayProfile(2.2), 3)).toBeUndefined();
    const refused = [inks, table, large].map((profile) => conversionToProfile(profile, 3));
    expect(refused).toEqual([undefined, undefined, undefined]);
    for (let length = 0; length < p3.length; length += 7) {
      expect(() => conversionToProfile(p3.subarray(0, length), 3)).not.toThrow();
    }
  });
});

describe('colorProfileOf', () => {
  it('makes a profile in which grays look as in the gray profile', () => {
    const gray = grayProfile(1.8);
    const color = must(colorProfileOf(gray), 'color profile');
    const grays = [20, 100, 180, 240].map((level) => [level, level, level, 255]);
    const [expected, actual] = [converted(gray, 1, ...grays), converted(color, 3, ...grays)];
    for (const [index, levels] of expected.entries()) {
      expect(Math.abs((levels[0] ?? 0) - (actual[index]?.[0] ?? 0))).toBeLessThan(2);
    }
  });

  it('makes a profile that the image decoder applies', async () => {
    const color = must(colorProfileOf(grayProfile(1)), 'color profile');
    const jpeg = await sharp({ create: { width: 16, height: 16, channels: 3, background: '#373737' } })
      .jpeg({ quality: 100 })
      .toBuffer();
    const [level = 0] = await sharp(withProfile(jpeg, color)).toColorspace('srgb').raw().toBuffer();
    expect(Math.abs(level - 128)).toBeLessThan(4);
  });
});
