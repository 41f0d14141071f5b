// Reads color profiles that consist of three curves and three primaries, such as Display P3 and Adobe RGB. All numbers
// are bounded by the length of the profile. A profile that is damaged or of another kind is left to the image decoder.

import type { Matrix3 } from '../color/matrix.ts';

/** Maps 0..1 to 0..1. */
export type ProfileCurve = (value: number) => number;

interface MatrixProfile {
  readonly curves: readonly [ProfileCurve, ProfileCurve, ProfileCurve];
  /** Maps linear light to XYZ under D50. */
  readonly toPcs: Matrix3;
}

const COLOR_SPACE_OFFSET = 16;
const TAG_COUNT_OFFSET = 128;
const TAG_SIZE = 12;
const MAX_TAGS = 100;

export function readMatrixProfile(icc: Buffer): MatrixProfile | undefined {
  try {
    const tags = tagsOf(icc);
    // The tables of a profile take precedence over its curves.
    if (icc.toString('latin1', COLOR_SPACE_OFFSET, COLOR_SPACE_OFFSET + 8) !== 'RGB XYZ ' || tags.has('A2B0')) {
      return undefined;
    }
    const [red, green, blue] = [curveOf(tags.get('rTRC')), curveOf(tags.get('gTRC')), curveOf(tags.get('bTRC'))];
    const [x, y, z] = [xyzOf(tags.get('rXYZ')), xyzOf(tags.get('gXYZ')), xyzOf(tags.get('bXYZ'))];
    if (!red || !green || !blue || !x || !y || !z) return undefined;
    const toPcs: Matrix3 = [x[0], y[0], z[0], x[1], y[1], z[1], x[2], y[2], z[2]];
    return { curves: [red, green, blue], toPcs };
  } catch (error) {
    // A read went beyond the end of the profile.
    if (error instanceof RangeError) return undefined;
    throw error;
  }
}

function tagsOf(icc: Buffer): Map<string, Buffer> {
  const count = Math.min(icc.readUInt32BE(TAG_COUNT_OFFSET), MAX_TAGS);
  const tags = new Map<string, Buffer>();
  for (let tag = 0; tag < count; tag += 1) {
    const at = TAG_COUNT_OFFSET + 4 + tag * TAG_SIZE;
    const start = icc.readUInt32BE(at + 4);
    tags.set(icc.toString('latin1', at, at + 4), icc.subarray(start, start + icc.readUInt32BE(at + 8)));
  }
  return tags;
}

function xyzOf(tag: Buffer | undefined): readonly [number, number, number] | undefined {
  if (tag?.toString('latin1', 0, 4) !== 'XYZ ') return undefined;
  return [fixed(tag, 8), fixed(tag, 12), fixed(tag, 16)];
}

function curveOf(tag: Buffer | undefined): ProfileCurve | undefined {
  const type = tag?.toString('latin1', 0, 4);
  if (tag !== undefined && type === 'para') return parametric(tag);
  if (tag === undefined || type !== 'curv') return undefined;
  const count = tag.readUInt32BE(8);
  if (count === 0) return (value) => value;
  if (count === 1) {
    const gamma = tag.readUInt16BE(12) / 256;
    return (value) => value ** gamma;
  }
  const points = Array.from(
    { length: Math.min(count, 65_536) },
    (_, index) => tag.readUInt16BE(12 + index * 2) / 65_535,
  );
  return (value) => {
    const at = value * (points.length - 1);
    const below = points[Math.floor(at)] ?? 0;
    const above = points[Math.ceil(at)] ?? below;
    return below + (above - below) * (at - Math.floor(at));
  };
}

/** Returns the curve `(a * x + b) ** g + e` from `d` on, and `c * x + f` below. */
function parametric(tag: Buffer): ProfileCurve | undefined {
  const kind = tag.readUInt16BE(8);
  const count = [1, 3, 4, 5, 7][kind];
  if (count === undefined) return undefined;
  const numbers = Array.from({ length: count }, (_, index) => fixed(tag, 12 + index * 4));
  const [g = 1, a = 1, b = 0] = numbers;
  // The first kinds omit parameters that follow from the others.
  const [c, d, e, f] = ((): readonly number[] => {
    if (kind === 0) return [0, 0, 0, 0];
    if (kind === 1) return [0, -b / a, 0, 0];
    if (kind === 2) return [0, -b / a, numbers[3] ?? 0, numbers[3] ?? 0];
    return [numbers[3] ?? 0, numbers[4] ?? 0, numbers[5] ?? 0, numbers[6] ?? 0];
  })() as [number, number, number, number];
  return (value) => {
    const result = value >= d ? Math.max(0, a * value + b) ** g + e : c * value + f;
    return Number.isFinite(result) ? Math.min(1, Math.max(0, result)) : 0;
  };
}

function fixed(tag: Buffer, at: number): number {
  return tag.readInt32BE(at) / 65_536;
}
