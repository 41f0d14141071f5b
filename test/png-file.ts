// Writes PNG files chunk by chunk, and color profiles tag by tag, for tests that need exact ones.

import { crc32, deflateSync } from 'node:zlib';

/** Red, green and blue in 0..1. */
export type Color = readonly [number, number, number];

export function chunk(type: string, data: Buffer): Buffer {
  const bytes = Buffer.alloc(12 + data.length);
  bytes.writeUInt32BE(data.length, 0);
  bytes.write(type, 4, 'latin1');
  data.copy(bytes, 8);
  bytes.writeUInt32BE(crc32(bytes.subarray(4, 8 + data.length)), 8 + data.length);
  return bytes;
}

/** Returns columns of color or gray, 8 pixels wide and 64 high, with these chunks before the pixels. */
export function pngFile(colors: readonly (readonly number[])[], bits: 8 | 16, chunks: readonly Buffer[] = []): Buffer {
  const [width, height, size] = [colors.length * 8, 64, bits / 8];
  const channels = colors[0]?.length === 1 ? 1 : 3;
  const row = Buffer.alloc(1 + width * channels * size);
  for (let x = 0; x < width; x += 1) {
    for (const [channel, value] of (colors[x >> 3] ?? []).entries()) {
      const at = 1 + (x * channels + channel) * size;
      if (bits === 16) row.writeUInt16BE(Math.round(value * 65_535), at);
      else row[at] = Math.round(value * 255);
    }
  }
  const header = Buffer.alloc(13);
  header.writeUInt32BE(width, 0);
  header.writeUInt32BE(height, 4);
  header.set([bits, channels === 1 ? 0 : 2], 8);
  const pixels = deflateSync(Buffer.concat(Array.from({ length: height }, () => row)));
  const signature = Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]);
  return Buffer.concat([
    signature,
    chunk('IHDR', header),
    ...chunks,
    chunk('IDAT', pixels),
    chunk('IEND', Buffer.alloc(0)),
  ]);
}

export function cicp(primaries: number, transfer: number, fullRange = 1): Buffer {
  return chunk('cICP', Buffer.from([primaries, transfer, 0, fullRange]));
}

export function numbers(type: 'gAMA' | 'cHRM', values: readonly number[]): Buffer {
  const data = Buffer.alloc(values.length * 4);
  for (const [index, value] of values.entries()) data.writeUInt32BE(Math.round(value * 100_000), index * 4);
  return chunk(type, data);
}

export function iccp(profile: Buffer): Buffer {
  return chunk('iCCP', Buffer.concat([Buffer.from('profile\0\0', 'latin1'), deflateSync(profile)]));
}

interface ProfileOptions {
  readonly name: string;
  readonly gamma: number;
  /** XYZ of red, green and blue, adapted to D50. Absent in a profile for gray. */
  readonly primaries?: readonly [Color, Color, Color];
  /** Code points for primaries and transfer. */
  readonly cicp?: readonly [number, number];
}

/** An ICC profile with a matrix and one power function. */
export function iccProfile({ name, gamma, primaries, cicp: codePoints }: ProfileOptions): Buffer {
  const tags = new Map<string, Buffer>([
    ['desc', describe(name)],
    ['wtpt', xyz([0.9642, 1, 0.8249])],
    ...(primaries ?? []).map((color, index) => [`${'rgb'[index]}XYZ`, xyz(color)] as const),
    ...(primaries ? ['rTRC', 'gTRC', 'bTRC'] : ['kTRC']).map((tag) => [tag, curve(gamma)] as const),
  ]);
  if (codePoints) tags.set('cicp', Buffer.concat([Buffer.from('cicp\0\0\0\0'), Buffer.from([...codePoints, 0, 1])]));
  const table = Buffer.alloc(4 + tags.size * 12);
  table.writeUInt32BE(tags.size, 0);
  let offset = 128 + table.length;
  for (const [index, [tag, data]] of [...tags].entries()) {
    table.write(tag, 4 + index * 12, 'latin1');
    table.writeUInt32BE(offset, 8 + index * 12);
    table.writeUInt32BE(data.length, 12 + index * 12);
    offset += data.length;
  }
  const header = Buffer.alloc(128);
  header.writeUInt32BE(offset, 0);
  header.writeUInt32BE(0x02400000, 8);
  header.write(primaries ? 'mntrRGB XYZ ' : 'mntrGRAYXYZ ', 12, 'latin1');
  header.write('acsp', 36, 'latin1');
  for (const [index, value] of [0.9642, 1, 0.8249].entries()) header.writeInt32BE(fixed(value), 68 + index * 4);
  return Buffer.concat([header, table, ...tags.values()]);
}

function describe(name: string): Buffer {
  const text = Buffer.from(`${name}\0`, 'latin1');
  const tag = Buffer.alloc(12 + text.length + 78 + ((4 - ((12 + text.length + 78) % 4)) % 4));
  tag.write('desc', 0, 'latin1');
  tag.writeUInt32BE(text.length, 8);
  text.copy(tag, 12);
  return tag;
}

function xyz(values: Color): Buffer {
  const tag = Buffer.alloc(20);
  tag.write('XYZ ', 0, 'latin1');
  for (const [index, value] of values.entries()) tag.writeInt32BE(fixed(value), 8 + index * 4);
  return tag;
}

function curve(gamma: number): Buffer {
  const tag = Buffer.alloc(16);
  tag.write('curv', 0, 'latin1');
  tag.writeUInt32BE(1, 8);
  tag.writeUInt16BE(Math.round(gamma * 256), 12);
  return tag;
}

function fixed(value: number): number {
  return Math.round(value * 65_536);
}
