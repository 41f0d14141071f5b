// Finds files whose header announces far more pixels than their data can hold. A kilobyte that claims 50 megapixels
// would keep a worker busy as long as a photo of that size. Each format has a bound that no encoder can beat, so a
// complete file is never rejected, however flat its image is. Lossless WebP, HEIC and AVIF have no useful bound,
// because they describe any flat image in a few bytes.

/** The bytes of compressed pixels in a file, and the minimum that its announced size needs. */
interface DataBytes {
  readonly present: number;
  readonly needed: number;
  /** The announced size. */
  readonly pixels: number;
}

/** A truncated file may still show something. It is refused only if it has less than this part of the minimum. */
const LEAST_PART = 1 / 8;
/** Decoding a smaller image costs so little that it can simply be tried. */
const MIN_PIXELS = 16_000_000;

/** Returns true when a large image has so little data that almost none of it can be present. */
export function lacksMostData(source: Uint8Array): boolean {
  const bytes = Buffer.from(source.buffer, source.byteOffset, source.byteLength);
  const data = pngData(bytes) ?? jpegData(bytes) ?? webpData(bytes) ?? gifData(bytes);
  return data !== undefined && data.pixels > MIN_PIXELS && data.present < data.needed * LEAST_PART;
}

/** Deflate describes at most 258 bytes with two codes of one bit each (RFC 1951). */
const MAX_DEFLATE_RATIO = 1_032;
const PNG_SIGNATURE = Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]);
/** "IDAT" as a number. */
const PNG_DATA = 0x49_44_41_54;
/** Samples per pixel, by color type. */
const PNG_SAMPLES: Readonly<Record<number, number>> = { 0: 1, 2: 3, 3: 1, 4: 2, 6: 4 };

function pngData(bytes: Buffer): DataBytes | undefined {
  if (!bytes.subarray(0, PNG_SIGNATURE.length).equals(PNG_SIGNATURE) || bytes.length < 33) return undefined;
  const bitsPerPixel = bytes.readUInt8(24) * (PNG_SAMPLES[bytes.readUInt8(25)] ?? 1);
  const pixels = bytes.readUInt32BE(16) * bytes.readUInt32BE(20);
  let present = 0;
  for (let at = PNG_SIGNATURE.length; at + 8 <= bytes.length; ) {
    const length = bytes.readUInt32BE(at);
    const end = Math.min(bytes.length, at + 8 + length);
    if (bytes.readUInt32BE(at + 4) === PNG_DATA) present += end - (at + 8);
    at += 12 + length;
  }
  return { present, needed: (pixels * bitsPerPixel) / 8 / MAX_DEFLATE_RATIO, pixels };
}

const JPEG_SCAN = 0xda;
const JPEG_END = Buffer.from([0xff, 0xd9]);
const JPEG_BASELINE: ReadonlySet<number> = new Set([0xc0, 0xc1]);
const JPEG_PROGRESSIVE = 0xc2;

/**
 * A block of 8x8 samples needs a Huffman code for its first coefficient and, in a sequential image, one for the others. A
 * progressive image may describe the others of many blocks at once. Arithmetic coding has no such bound.
 */
function jpegData(bytes: Buffer): DataBytes | undefined {
  if (bytes[0] !== 0xff || bytes[1] !== 0xd8) return undefined;
  let frame = { pixels: 0, blocks: 0, bitsPerBlock: 0 };
  for (let at = 2; at + 4 <= bytes.length; ) {
    const marker = bytes.readUInt8(at + 1);
    // The file is damaged, or has padding before a marker.
    if (bytes[at] !== 0xff || marker === 0xff) {
      at += 1;
      continue;
    }
    if (marker === JPEG_SCAN) {
      const end = bytes.indexOf(JPEG_END, at);
      const { pixels, blocks, bitsPerBlock } = frame;
      return { present: (end < 0 ? bytes.length : end) - at, needed: (blocks * bitsPerBlock) / 8, pixels };
    }
    const isBaseline = JPEG_BASELINE.has(marker);
    if (isBaseline || marker === JPEG_PROGRESSIVE) {
      frame = { ...readJpegFrame(bytes, at), bitsPerBlock: isBaseline ? 2 : 1 };
    }
    at += 2 + bytes.readUInt16BE(at + 2);
  }
  return undefined;
}

/** Counts the blocks of all components. `at` is the marker of the frame header. */
function readJpegFrame(bytes: Buffer, at: number): { readonly pixels: number; readonly blocks: number } {
  const components = bytes[at + 9] ?? 0;
  if (at + 10 + components * 3 > bytes.length) return { pixels: 0, blocks: 0 };
  const pixels = bytes.readUInt16BE(at + 5) * bytes.readUInt16BE(at + 7);
  const areas = Array.from({ length: components }, (_, index) => {
    const factors = bytes.readUInt8(at + 11 + index * 3);
    return (factors >> 4) * (factors & 15);
  });
  const largest = Math.max(1, ...areas);
  const samplesPerPixel = areas.reduce((sum, area) => sum + area, 0) / largest;
  return { pixels, blocks: (pixels / 64) * samplesPerPixel };
}

/**
 * The modes of a macroblock of 16x16 pixels have fixed probabilities in a key frame, which cost more than this (RFC
 * 6386, section 11).
 */
const VP8_BITS_PER_MACROBLOCK = 3;
const VP8_FRAME = Buffer.from('VP8 ', 'latin1');
const VP8_START_CODE = Buffer.from([0x9d, 0x01, 0x2a]);

function webpData(bytes: Buffer): DataBytes | undefined {
  if (bytes.toString('latin1', 0, 4) !== 'RIFF' || bytes.toString('latin1', 8, 12) !== 'WEBP') return undefined;
  const at = bytes.indexOf(VP8_FRAME, 12);
  if (at < 0 || at + 18 > bytes.length || !bytes.subarray(at + 11, at + 14).equals(VP8_START_CODE)) return undefined;
  const side = (offset: number): number => bytes.readUInt16LE(at + offset) & 0x3fff;
  const pixels = side(14) * side(16);
  const present = Math.min(bytes.readUInt32LE(at + 4), bytes.length - (at + 8));
  return { present, needed: ((pixels / 256) * VP8_BITS_PER_MACROBLOCK) / 8, pixels };
}

/** A code of 12 bits stands for at most 4,096 pixels. */
const GIF_PIXELS_PER_BYTE = (4_096 / 12) * 8;
const GIF_EXTENSION = 0x21;
const GIF_IMAGE = 0x2c;

/** Measures the first frame, which may be smaller than the image. */
function gifData(bytes: Buffer): DataBytes | undefined {
  if (bytes.toString('latin1', 0, 3) !== 'GIF' || bytes.length < 13) return undefined;
  let at = 13 + colorTableBytes(bytes.readUInt8(10));
  while (bytes[at] === GIF_EXTENSION) at = readSubBlocks(bytes, at + 2).end;
  if (bytes[at] !== GIF_IMAGE || at + 10 > bytes.length) return undefined;
  const pixels = bytes.readUInt16LE(at + 5) * bytes.readUInt16LE(at + 7);
  const { dataBytes } = readSubBlocks(bytes, at + 11 + colorTableBytes(bytes.readUInt8(at + 9)));
  return { present: dataBytes, needed: pixels / GIF_PIXELS_PER_BYTE, pixels };
}

function colorTableBytes(flags: number): number {
  return (flags & 0x80) === 0 ? 0 : 3 * 2 ** ((flags & 7) + 1);
}

function readSubBlocks(bytes: Buffer, start: number): { readonly dataBytes: number; readonly end: number } {
  let at = start;
  let dataBytes = 0;
  for (let length = bytes[at] ?? 0; length > 0; length = bytes[at] ?? 0) {
    dataBytes += Math.min(length, bytes.length - at - 1);
    at += 1 + length;
  }
  return { dataBytes, end: at + 1 };
}
