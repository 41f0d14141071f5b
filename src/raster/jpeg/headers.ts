// Reads the segments of a JPEG up to its image data. Anything unusual returns `undefined`, and the caller decodes and
// encodes the image instead.

import type { Size } from '../../layout/geometry.ts';

export interface Component {
  readonly horizontal: number;
  readonly vertical: number;
  /** Quantization steps in zigzag order. */
  readonly steps: Uint16Array;
  readonly dc: HuffmanSpec;
  readonly ac: HuffmanSpec;
}

/** A table as it is stored: the number of codes per length, then the symbols. */
export interface HuffmanSpec {
  /** Class and number of the table, as in its segment. */
  readonly id: number;
  readonly counts: Uint8Array;
  readonly symbols: Uint8Array;
}

/** An 8-bit Huffman-coded sequential JPEG with one scan, in YCbCr or gray. */
export interface JpegHeaders extends Size {
  readonly components: readonly Component[];
  /** The interval in MCUs. 0 without restart markers. */
  readonly restartInterval: number;
  /** The segments that the output keeps before its Huffman tables: everything but metadata. */
  readonly kept: readonly Uint8Array[];
  /** The segment that starts the scan. */
  readonly scan: Uint8Array;
  /** True if there was a color profile, which the output doesn't keep. */
  readonly hasProfile: boolean;
  /** The start of the entropy-coded data. */
  readonly dataStart: number;
}

export const MARKER = {
  sof0: 0xc0,
  sof1: 0xc1,
  dht: 0xc4,
  sos: 0xda,
  dqt: 0xdb,
  dri: 0xdd,
  app0: 0xe0,
  app2: 0xe2,
  app14: 0xee,
} as const;
const MAX_DC_SYMBOL = 15;
const APP_OR_COMMENT = { first: 0xe0, last: 0xef, comment: 0xfe };

interface FrameComponent {
  readonly id: number;
  readonly horizontal: number;
  readonly vertical: number;
  readonly table: number;
}

/** The contents of the segments before the scan. */
class Segments {
  readonly quantization: (Uint16Array | undefined)[] = [];
  readonly dc: (HuffmanSpec | undefined)[] = [];
  readonly ac: (HuffmanSpec | undefined)[] = [];
  readonly kept: Uint8Array[] = [];
  frame: { readonly size: Size; readonly components: readonly FrameComponent[] } | undefined;
  restartInterval = 0;
  isJfif = false;
  adobeTransform: number | undefined;
  hasProfile = false;
}

/** Large photos with profiles and thumbnails have a few hundred. */
const MAX_SEGMENTS = 4_096;

export function readHeaders(file: Uint8Array): JpegHeaders | undefined {
  if (file[0] !== 0xff || file[1] !== 0xd8) return undefined;
  const view = new DataView(file.buffer, file.byteOffset, file.length);
  const segments = new Segments();
  let at = 2;
  for (let count = 0; at + 4 <= file.length && count < MAX_SEGMENTS; count += 1) {
    const marker = file[at + 1] ?? 0;
    const length = view.getUint16(at + 2);
    const end = at + 2 + length;
    if (file[at] !== 0xff || length < 2 || end > file.length) return undefined;
    const segment = file.subarray(at, end);
    const body = file.subarray(at + 4, end);
    if (marker === MARKER.sos) {
      return finish(segments, segment, end);
    }
    if (!readSegment(segments, marker, segment, body)) return undefined;
    at = end;
  }
  return undefined;
}

function readSegment(segments: Segments, marker: number, segment: Uint8Array, body: Uint8Array): boolean {
  if (marker === APP_OR_COMMENT.comment || (marker >= APP_OR_COMMENT.first && marker <= APP_OR_COMMENT.last)) {
    readApplicationData(segments, marker, segment, body);
    return true;
  }
  if (marker === MARKER.dht) return readHuffman(segments, body);
  segments.kept.push(segment);
  switch (marker) {
    case MARKER.dqt:
      return readQuantization(segments, body);
    case MARKER.sof0:
    case MARKER.sof1:
      return readFrame(segments, body);
    case MARKER.dri:
      segments.restartInterval = ((body[0] ?? 0) << 8) | (body[1] ?? 0);
      return body.length === 2;
    default:
      return false;
  }
}

/**
 * Keeps the data that distinguishes YCbCr from RGB. Thumbnails, locations, profiles and everything else are dropped.
 */
function readApplicationData(segments: Segments, marker: number, segment: Uint8Array, body: Uint8Array): void {
  const name = Buffer.from(body.subarray(0, 12)).toString('latin1');
  if (marker === MARKER.app0 && name.startsWith('JFIF\0') && body.length >= 14 && !segments.isJfif) {
    segments.isJfif = true;
    const withoutThumbnail = Uint8Array.of(0xff, MARKER.app0, 0, 16, ...body.subarray(0, 12), 0, 0);
    segments.kept.push(withoutThumbnail);
  } else if (marker === MARKER.app2 && name === 'ICC_PROFILE\0') {
    segments.hasProfile = true;
  } else if (marker === MARKER.app14 && name.startsWith('Adobe') && body.length >= 12) {
    segments.adobeTransform = body[11];
    segments.kept.push(segment);
  }
}

function readQuantization(segments: Segments, body: Uint8Array): boolean {
  let at = 0;
  while (at < body.length) {
    const head = body[at] ?? 0;
    const bytes = head >> 4 === 0 ? 1 : 2;
    if (head >> 4 > 1 || (head & 15) > 3 || at + 1 + 64 * bytes > body.length) return false;
    const steps = new Uint16Array(64);
    for (let index = 0; index < 64; index += 1) {
      const from = at + 1 + index * bytes;
      steps[index] = bytes === 1 ? (body[from] ?? 0) : ((body[from] ?? 0) << 8) | (body[from + 1] ?? 0);
    }
    if (steps.includes(0)) return false;
    segments.quantization[head & 15] = steps;
    at += 1 + 64 * bytes;
  }
  return true;
}

function readHuffman(segments: Segments, body: Uint8Array): boolean {
  let at = 0;
  while (at < body.length) {
    const head = body[at] ?? 0;
    if (at + 17 > body.length || head >> 4 > 1 || (head & 15) > 3) return false;
    const counts = body.subarray(at + 1, at + 17);
    const total = counts.reduce((sum, count) => sum + count, 0);
    if (total > 256 || at + 17 + total > body.length) return false;
    const isDc = head >> 4 === 0;
    const symbols = body.subarray(at + 17, at + 17 + total);
    // Decoders refuse such a table, even if the image doesn't use these symbols.
    if (isDc && symbols.some((symbol) => symbol > MAX_DC_SYMBOL)) return false;
    const tables = isDc ? segments.dc : segments.ac;
    tables[head & 15] = { id: head, counts, symbols };
    at += 17 + total;
  }
  return true;
}

function readFrame(segments: Segments, body: Uint8Array): boolean {
  const [precision = 0, a = 0, b = 0, c = 0, d = 0, count = 0] = body;
  const size = { height: (a << 8) | b, width: (c << 8) | d };
  if (segments.frame !== undefined || precision !== 8 || (count !== 1 && count !== 3)) return false;
  if (size.width === 0 || size.height === 0 || body.length !== 6 + 3 * count) return false;
  const components = Array.from({ length: count }, (_, index) => {
    const [id = 0, sampling = 0, table = 0] = body.subarray(6 + 3 * index);
    // The blocks of a single component aren't interleaved, so its sampling factors mean nothing.
    const [horizontal, vertical] = count === 1 ? [1, 1] : [sampling >> 4, sampling & 15];
    return { id, horizontal, vertical, table };
  });
  segments.frame = { size, components };
  return components.every(isSupportedSampling);
}

function isSupportedSampling({ horizontal, vertical }: FrameComponent, index: number): boolean {
  const most = index === 0 ? 2 : 1;
  return horizontal >= 1 && horizontal <= most && vertical >= 1 && vertical <= most;
}

function finish(segments: Segments, segment: Uint8Array, dataStart: number): JpegHeaders | undefined {
  const scan = segment.subarray(4);
  const { frame, restartInterval, kept, hasProfile } = segments;
  const count = scan[0] ?? 0;
  if (frame === undefined || count !== frame.components.length || scan.length !== 4 + 2 * count) return undefined;
  const [spectralStart, spectralEnd, approximation] = scan.subarray(1 + 2 * count);
  if (spectralStart !== 0 || spectralEnd !== 63 || approximation !== 0 || !isYcc(segments)) return undefined;
  const components: Component[] = [];
  for (const [index, { id, horizontal, vertical, table }] of frame.components.entries()) {
    const selector = scan[2 + 2 * index] ?? 0;
    const steps = segments.quantization[table];
    const dc = segments.dc[selector >> 4];
    const ac = segments.ac[selector & 15];
    if (scan[1 + 2 * index] !== id || !steps || !dc || !ac) return undefined;
    components.push({ horizontal, vertical, steps, dc, ac });
  }
  return { ...frame.size, components, restartInterval, kept, scan: segment, hasProfile, dataStart };
}

/** Applies the rules by which decoders distinguish YCbCr from RGB. */
function isYcc({ frame, isJfif, adobeTransform }: Segments): boolean {
  const ids = frame?.components.map(({ id }) => id) ?? [];
  if (ids.length === 1 || isJfif) return true;
  if (adobeTransform !== undefined) return adobeTransform === 1;
  return ids.join() === '1,2,3';
}
