// Reads and writes the entropy-coded data of a scan, without and with its stuffed bytes.

/** The bytes between two restart markers, as a range of `bytes`. */
export interface Interval {
  readonly start: number;
  readonly end: number;
}

export interface EntropyData {
  readonly bytes: Uint8Array;
  readonly intervals: readonly Interval[];
}

const [RST0, RST7, EOI] = [0xd0, 0xd7, 0xd9];
/** Readers check their position once per block, and a block has at most 64 codes of 31 bits. */
const PADDING = 512;
/** Photos have a restart marker after every row of blocks, or a few times per row. */
const MAX_INTERVALS = 65_536;

/** Reads up to the end of the image. Data after it, such as a second image of a phone, is ignored. */
export function readEntropyData(file: Uint8Array, from: number): EntropyData | undefined {
  const source = Buffer.from(file.buffer, file.byteOffset, file.length);
  const bytes = Buffer.allocUnsafe(source.length - from + PADDING);
  const intervals: Interval[] = [];
  let length = 0;
  let start = 0;
  for (let at = from; ; ) {
    const found = source.indexOf(0xff, at);
    if (found < 0 || found + 1 >= source.length) return undefined;
    length += source.copy(bytes, length, at, found);
    const marker = source[found + 1] ?? 0;
    at = found + 2;
    if (marker === 0) {
      bytes[length] = 0xff;
      length += 1;
      continue;
    }
    intervals.push({ start, end: length });
    start = length;
    if (marker === EOI) break;
    const isNextRestart = marker >= RST0 && marker <= RST7 && marker - RST0 === (intervals.length - 1) % 8;
    if (!isNextRestart || intervals.length > MAX_INTERVALS) return undefined;
  }
  bytes.fill(0, length, length + PADDING);
  return { bytes: bytes.subarray(0, length + PADDING), intervals };
}

/** Stuffs the bytes of each interval and puts restart markers between them. */
export function writeEntropyData({ bytes, intervals }: EntropyData): Uint8Array[] {
  return intervals.flatMap(({ start, end }, index) => {
    const stuffed = stuff(Buffer.from(bytes.buffer, bytes.byteOffset + start, end - start));
    return index === 0 ? [stuffed] : [Uint8Array.of(0xff, RST0 + ((index - 1) % 8)), stuffed];
  });
}

function stuff(bytes: Buffer): Buffer {
  let count = 0;
  for (let at = bytes.indexOf(0xff); at >= 0; at = bytes.indexOf(0xff, at + 1)) count += 1;
  const stuffed = Buffer.allocUnsafe(bytes.length + count);
  let length = 0;
  let from = 0;
  for (let at = bytes.indexOf(0xff); at >= 0; at = bytes.indexOf(0xff, at + 1)) {
    length += bytes.copy(stuffed, length, from, at + 1);
    stuffed[length] = 0;
    length += 1;
    from = at + 1;
  }
  bytes.copy(stuffed, length, from);
  return stuffed;
}
