// Rebuilds the outlines of TrueType glyphs from their form in WOFF2 (section 5.1 of the standard): one stream per kind of number,
// and three numbers per point.

import { FontReader, FontWriter } from './font-bytes.ts';
import { damagedFont } from './refusal.ts';
import { MAX_TABLE_BYTES } from './sfnt.ts';

export interface Outlines {
  readonly glyf: Uint8Array;
  readonly loca: Uint8Array;
  /** The left edge of each glyph. */
  readonly leftEdges: readonly number[];
}

const ON_CURVE = 0x01;
const X_SHORT = 0x02;
const Y_SHORT = 0x04;
const X_SAME_OR_POSITIVE = 0x10;
const Y_SAME_OR_POSITIVE = 0x20;
const OVERLAPS = 0x40;

const ARGUMENTS_ARE_WORDS = 0x0001;
const HAS_SCALE = 0x0008;
const MORE_COMPONENTS = 0x0020;
const HAS_TWO_SCALES = 0x0040;
const HAS_MATRIX = 0x0080;
const HAS_INSTRUCTIONS = 0x0100;

/** More points than this overflow the numbers of the format. */
const MAX_POINTS = 0xffff;

interface Streams {
  readonly contours: FontReader;
  readonly points: FontReader;
  readonly flags: FontReader;
  readonly glyphs: FontReader;
  readonly composites: FontReader;
  readonly boxes: FontReader;
}

export function rebuildOutlines(packed: Uint8Array): Outlines {
  const reader = new FontReader(packed);
  reader.skip(2);
  const options = reader.uint16();
  const count = reader.uint16();
  reader.skip(2);
  const sizes = Array.from({ length: 7 }, () => reader.uint32());
  const [contours, points, flags, glyphs, composites, boxBytes] = sizes.map((size) => reader.take(size));
  const boxMap = new FontReader(boxBytes ?? new Uint8Array()).take(4 * Math.floor((count + 31) / 32));
  const overlaps = (options & 1) === 0 ? undefined : reader.take((count + 7) >> 3);
  const streams: Streams = {
    contours: streamOf(contours),
    points: streamOf(points),
    flags: streamOf(flags),
    glyphs: streamOf(glyphs),
    composites: streamOf(composites),
    boxes: new FontReader(boxBytes ?? new Uint8Array(), boxMap.length),
  };
  const glyf = new FontWriter(packed.length * 2);
  const loca = new FontWriter(4 * (count + 1));
  const leftEdges: number[] = [];
  for (let glyph = 0; glyph < count; glyph += 1) {
    loca.uint32(glyf.length);
    const hasBox = isSet(boxMap, glyph);
    const isOverlapping = overlaps !== undefined && isSet(overlaps, glyph);
    leftEdges.push(writeGlyph(glyf, streams, hasBox, isOverlapping));
    glyf.pad(4);
    if (glyf.length > MAX_TABLE_BYTES) throw damagedFont('its outlines are too large');
  }
  loca.uint32(glyf.length);
  return { glyf: glyf.finish(), loca: loca.finish(), leftEdges };
}

function streamOf(bytes: Uint8Array | undefined): FontReader {
  return new FontReader(bytes ?? new Uint8Array());
}

/** Bits count from the most significant one. */
function isSet(bits: Uint8Array, index: number): boolean {
  return (((bits[index >> 3] ?? 0) >> (7 - (index & 7))) & 1) === 1;
}

/** Returns the left edge of the glyph. */
function writeGlyph(out: FontWriter, streams: Streams, hasBox: boolean, isOverlapping: boolean): number {
  const contours = streams.contours.int16();
  if (contours === 0) return 0;
  if (contours < 0) {
    out.int16(-1);
    const left = writeBox(out, streams.boxes);
    writeComposite(out, streams);
    return left;
  }
  const ends: number[] = [];
  let count = 0;
  for (let contour = 0; contour < contours; contour += 1) {
    count += number255(streams.points);
    if (count > MAX_POINTS) throw damagedFont('a glyph has too many points');
    ends.push(count - 1);
  }
  const points = readPoints(streams, count);
  number255(streams.glyphs);
  out.int16(contours);
  const left = hasBox ? writeBox(out, streams.boxes) : writeBox(out, boxOf(points));
  for (const end of ends) out.uint16(end);
  out.uint16(0);
  writePoints(out, points, isOverlapping);
  return left;
}

function writeBox(out: FontWriter, box: Pick<FontReader, 'int16'>): number {
  const left = box.int16();
  out.int16(left);
  for (let side = 1; side < 4; side += 1) out.int16(box.int16());
  return left;
}

interface Points {
  readonly x: Int16Array;
  readonly y: Int16Array;
  readonly isOnCurve: Uint8Array;
}

/** Reads from the computed box as if it were in the file. */
function boxOf({ x, y }: Points): Pick<FontReader, 'int16'> {
  let [left, bottom, right, top] = [x[0] ?? 0, y[0] ?? 0, x[0] ?? 0, y[0] ?? 0];
  for (let at = 1; at < x.length; at += 1) {
    const [across, up] = [x[at] ?? 0, y[at] ?? 0];
    if (across < left) left = across;
    if (across > right) right = across;
    if (up < bottom) bottom = up;
    if (up > top) top = up;
  }
  const sides = [left, bottom, right, top];
  return { int16: () => sides.shift() ?? 0 };
}

function readPoints({ flags, glyphs }: Streams, count: number): Points {
  const points = { x: new Int16Array(count), y: new Int16Array(count), isOnCurve: new Uint8Array(count) };
  let [x, y] = [0, 0];
  for (let at = 0; at < count; at += 1) {
    const flag = flags.uint8();
    const [dx, dy] = readStep(flag & 0x7f, glyphs);
    x += dx;
    y += dy;
    points.isOnCurve[at] = flag < 0x80 ? 1 : 0;
    points.x[at] = x;
    points.y[at] = y;
  }
  return points;
}

/** The table of section 5.2. The flag tells how many bits each of the two distances has. */
function readStep(flag: number, bytes: FontReader): readonly [dx: number, dy: number] {
  const signed = (bit: number, value: number): number => ((flag >> bit) & 1 ? value : -value);
  if (flag < 10) return [0, signed(0, ((flag & 14) << 7) + bytes.uint8())];
  if (flag < 20) return [signed(0, (((flag - 10) & 14) << 7) + bytes.uint8()), 0];
  if (flag < 84) {
    const [high, low] = [flag - 20, bytes.uint8()];
    return [signed(0, 1 + (high & 0x30) + (low >> 4)), signed(1, 1 + ((high & 0x0c) << 2) + (low & 0x0f))];
  }
  if (flag < 120) {
    const high = flag - 84;
    const dx = 1 + (Math.floor(high / 12) << 8) + bytes.uint8();
    return [signed(0, dx), signed(1, 1 + (((high % 12) >> 2) << 8) + bytes.uint8())];
  }
  if (flag < 124) {
    const [first, middle, last] = [bytes.uint8(), bytes.uint8(), bytes.uint8()];
    return [signed(0, (first << 4) + (middle >> 4)), signed(1, ((middle & 0x0f) << 8) + last)];
  }
  return [signed(0, bytes.uint16()), signed(1, bytes.uint16())];
}

function writePoints(out: FontWriter, { x, y, isOnCurve }: Points, isOverlapping: boolean): void {
  const across = new FontWriter(2 * x.length + 1);
  const up = new FontWriter(2 * x.length + 1);
  for (let at = 0; at < x.length; at += 1) {
    const dx = (x[at] ?? 0) - (x[at - 1] ?? 0);
    const dy = (y[at] ?? 0) - (y[at - 1] ?? 0);
    const flags =
      (isOnCurve[at] === 1 ? ON_CURVE : 0) |
      (at === 0 && isOverlapping ? OVERLAPS : 0) |
      writeStep(across, dx, X_SHORT, X_SAME_OR_POSITIVE) |
      writeStep(up, dy, Y_SHORT, Y_SAME_OR_POSITIVE);
    out.uint8(flags);
  }
  out.bytes(across.finish());
  out.bytes(up.finish());
}

/** Writes a distance in as few bytes as possible. Returns the flags that say how. */
function writeStep(out: FontWriter, step: number, short: number, sameOrPositive: number): number {
  if (step === 0) return sameOrPositive;
  if (Math.abs(step) > 0xff) {
    out.int16(step);
    return 0;
  }
  out.uint8(Math.abs(step));
  return step > 0 ? short | sameOrPositive : short;
}

function writeComposite(out: FontWriter, { composites, glyphs }: Streams): void {
  let flags = MORE_COMPONENTS;
  let hasInstructions = false;
  while ((flags & MORE_COMPONENTS) !== 0) {
    flags = composites.uint16();
    hasInstructions ||= (flags & HAS_INSTRUCTIONS) !== 0;
    out.uint16(flags & ~HAS_INSTRUCTIONS);
    out.uint16(composites.uint16());
    const scales =
      (flags & HAS_SCALE) !== 0 ? 2 : (flags & HAS_TWO_SCALES) !== 0 ? 4 : (flags & HAS_MATRIX) !== 0 ? 8 : 0;
    out.bytes(composites.take(((flags & ARGUMENTS_ARE_WORDS) !== 0 ? 4 : 2) + scales));
  }
  if (hasInstructions) number255(glyphs);
}

/** A number up to 65,535 in one to three bytes. */
function number255(reader: FontReader): number {
  const code = reader.uint8();
  if (code === 253) return reader.uint16();
  if (code === 254) return reader.uint8() + 506;
  return code === 255 ? reader.uint8() + 253 : code;
}
