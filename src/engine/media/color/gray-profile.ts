// A gray image that gets color needs a profile for color images. This makes one from its gray profile: the primaries of sRGB
// with the tone curve of the gray profile, so that every gray stays what it was.

import { readTags } from './profile-tags.ts';
import { SRGB_PRIMARIES } from './srgb-primaries.ts';
import { toneCurve } from './tone-curves.ts';

const HEADER_BYTES = 128;
const TAG_BYTES = 12;
const VERSION_2_1 = 0x02_10_00_00;
const CURVE_POINTS = 1_024;
const FIXED_POINT = 65_536;
/** The white of all profiles. */
const D50 = [0.9642, 1, 0.8249] as const;
const NAME = 'Gray with color';

/** Returns `undefined` if the gray profile has no usable tone curve. */
export function colorProfileOf(gray: Uint8Array): Buffer | undefined {
  const curve = toneCurve(readTags(gray)?.data('kTRC'));
  if (curve === undefined) return undefined;
  const points = Buffer.alloc(12 + CURVE_POINTS * 2);
  points.write('curv', 0, 'latin1');
  points.writeUInt32BE(CURVE_POINTS, 8);
  for (let point = 0; point < CURVE_POINTS; point += 1) {
    const light = Math.min(1, Math.max(0, curve.lightAt(point / (CURVE_POINTS - 1))));
    points.writeUInt16BE(Math.round(65_535 * light), 12 + point * 2);
  }
  const [rx, gx, bx, ry, gy, by, rz, gz, bz] = SRGB_PRIMARIES;
  return profileWith([
    ['desc', description()],
    ['cprt', Buffer.from('text\0\0\0\0CC0\0', 'latin1')],
    ['wtpt', numbers(D50)],
    ['rXYZ', numbers([rx, ry, rz])],
    ['gXYZ', numbers([gx, gy, gz])],
    ['bXYZ', numbers([bx, by, bz])],
    ['rTRC', points],
    ['gTRC', points],
    ['bTRC', points],
  ]);
}

/** Tags with the same data share it. */
function profileWith(tags: readonly (readonly [string, Buffer])[]): Buffer {
  const table = Buffer.alloc(4 + tags.length * TAG_BYTES);
  table.writeUInt32BE(tags.length, 0);
  const parts: Buffer[] = [];
  const starts = new Map<Buffer, number>();
  let end = HEADER_BYTES + table.length;
  for (const [index, [name, data]] of tags.entries()) {
    const start = starts.get(data) ?? end;
    if (start === end) {
      const padded = Buffer.concat([data, Buffer.alloc(-data.length & 3)]);
      parts.push(padded);
      end += padded.length;
      starts.set(data, start);
    }
    table.write(name, 4 + index * TAG_BYTES, 'latin1');
    table.writeUInt32BE(start, 8 + index * TAG_BYTES);
    table.writeUInt32BE(data.length, 12 + index * TAG_BYTES);
  }
  return Buffer.concat([header(end), table, ...parts]);
}

function header(size: number): Buffer {
  const bytes = Buffer.alloc(HEADER_BYTES);
  bytes.writeUInt32BE(size, 0);
  bytes.writeUInt32BE(VERSION_2_1, 8);
  bytes.write('mntrRGB XYZ ', 12, 'latin1');
  // A date is required.
  for (const [index, number] of [2026, 1, 1].entries()) bytes.writeUInt16BE(number, 24 + index * 2);
  bytes.write('acsp', 36, 'latin1');
  numbers(D50).copy(bytes, 68, 8);
  return bytes;
}

function numbers(values: readonly number[]): Buffer {
  const data = Buffer.alloc(8 + values.length * 4);
  data.write('XYZ ', 0, 'latin1');
  for (const [index, value] of values.entries()) data.writeInt32BE(Math.round(value * FIXED_POINT), 8 + index * 4);
  return data;
}

/** With empty texts in Unicode and for Macintosh, which version 2 asks for. */
function description(): Buffer {
  const data = Buffer.alloc(12 + NAME.length + 1 + 78);
  data.write('desc', 0, 'latin1');
  data.writeUInt32BE(NAME.length + 1, 8);
  data.write(NAME, 12, 'latin1');
  return data;
}
