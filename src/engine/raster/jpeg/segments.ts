// Reads the segments of a JPEG between its image data: tables, the frame, scans, and the few metadata that matter.

import type { Size } from '../../layout/geometry.ts';

/** A Huffman table as it is stored: the number of codes per length, then the symbols. */
export interface HuffmanSpec {
  readonly counts: Uint8Array;
  readonly symbols: Uint8Array;
}

interface FrameComponent {
  readonly id: number;
  readonly horizontal: number;
  readonly vertical: number;
  /** The number of its quantization table. */
  readonly table: number;
}

export interface Frame extends Size {
  /** Its marker, which tells how the image is coded. */
  readonly marker: number;
  /** Bits per sample. */
  readonly precision: number;
  readonly components: readonly FrameComponent[];
}

export interface Scan {
  /** By their number in the frame, with their Huffman tables. */
  readonly members: readonly { readonly component: number; readonly dc: number; readonly ac: number }[];
  /** The coefficients it has, in zigzag order. */
  readonly start: number;
  readonly end: number;
  /** The lowest bit that was known before the scan and after it; 0 before the first one. */
  readonly high: number;
  readonly low: number;
  /** Where the entropy-coded data starts. */
  readonly dataStart: number;
}

export const MARKER = {
  sof0: 0xc0,
  sof1: 0xc1,
  sof2: 0xc2,
  dht: 0xc4,
  jpg: 0xc8,
  dac: 0xcc,
  sof15: 0xcf,
  eoi: 0xd9,
  sos: 0xda,
  dqt: 0xdb,
  dri: 0xdd,
  app0: 0xe0,
  app2: 0xe2,
  app14: 0xee,
  app15: 0xef,
  comment: 0xfe,
} as const;

export const END_OF_IMAGE: Uint8Array = Uint8Array.of(0xff, MARKER.eoi);

const MAX_DC_SYMBOL = 15;
/** Large photos with profiles and thumbnails have a few hundred. */
const MAX_SEGMENTS = 4_096;
const PROFILE_HEADER = 14;

export class Segments {
  readonly #file: Uint8Array;
  readonly #profile = new Map<number, Uint8Array>();
  #profileChunks = 0;
  #count = 0;
  readonly quantization: (Uint16Array | undefined)[] = [];
  readonly dc: (HuffmanSpec | undefined)[] = [];
  readonly ac: (HuffmanSpec | undefined)[] = [];
  frame: Frame | undefined;
  restartInterval = 0;
  /** The segment without its thumbnail. */
  jfif: Uint8Array | undefined;
  adobe: Uint8Array | undefined;

  constructor(file: Uint8Array) {
    this.#file = file;
  }

  /** Reads up to the next scan or to the end of the image. Returns `undefined` for anything unusual. */
  next(from: number): Scan | 'end' | undefined {
    const file = this.#file;
    for (let at = from; at + 2 <= file.length && this.#count < MAX_SEGMENTS; this.#count += 1) {
      // A marker may have any number of these before it.
      while (file[at] === 0xff && file[at + 1] === 0xff) at += 1;
      const marker = file[at + 1] ?? 0;
      if (file[at] !== 0xff) return undefined;
      if (marker === MARKER.eoi) return 'end';
      const end = at + 2 + (((file[at + 2] ?? 0) << 8) | (file[at + 3] ?? 0));
      if (end < at + 4 || end > file.length) return undefined;
      const body = file.subarray(at + 4, end);
      if (marker === MARKER.sos) return this.#readScan(body, end);
      if (!this.#readSegment(marker, body)) return undefined;
      at = end;
    }
    return undefined;
  }

  /** The embedded color profile, `undefined` without one, or empty if a part of it is missing. */
  get profile(): Uint8Array | undefined {
    if (this.#profile.size === 0) return undefined;
    const parts = Array.from({ length: this.#profileChunks }, (_, index) => this.#profile.get(index + 1));
    return parts.every((part) => part !== undefined) ? Buffer.concat(parts) : new Uint8Array();
  }

  #readSegment(marker: number, body: Uint8Array): boolean {
    if (marker === MARKER.comment || (marker >= MARKER.app0 && marker <= MARKER.app15)) {
      this.#readApplicationData(marker, body);
      return true;
    }
    switch (marker) {
      case MARKER.dht:
        return this.#readHuffman(body);
      case MARKER.dqt:
        return this.#readQuantization(body);
      case MARKER.dri:
        this.restartInterval = ((body[0] ?? 0) << 8) | (body[1] ?? 0);
        return body.length === 2;
      case MARKER.dac:
        return true;
      default:
        return (
          marker >= MARKER.sof0 && marker <= MARKER.sof15 && marker !== MARKER.jpg && this.#readFrame(marker, body)
        );
    }
  }

  /** Thumbnails, locations and everything else are dropped. */
  #readApplicationData(marker: number, body: Uint8Array): void {
    const name = Buffer.from(body.subarray(0, 12)).toString('latin1');
    if (marker === MARKER.app0 && name.startsWith('JFIF\0') && body.length >= 14) {
      this.jfif ??= Uint8Array.of(...body.subarray(0, 12), 0, 0);
    } else if (marker === MARKER.app2 && name === 'ICC_PROFILE\0' && body.length >= PROFILE_HEADER) {
      this.#profileChunks = body[13] ?? 0;
      this.#profile.set(body[12] ?? 0, body.subarray(PROFILE_HEADER));
    } else if (marker === MARKER.app14 && name.startsWith('Adobe') && body.length >= 12) {
      this.adobe = body;
    }
  }

  #readQuantization(body: Uint8Array): boolean {
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
      this.quantization[head & 15] = steps;
      at += 1 + 64 * bytes;
    }
    return true;
  }

  #readHuffman(body: Uint8Array): boolean {
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
      (isDc ? this.dc : this.ac)[head & 15] = { counts, symbols };
      at += 17 + total;
    }
    return true;
  }

  #readFrame(marker: number, body: Uint8Array): boolean {
    const [precision = 0, a = 0, b = 0, c = 0, d = 0, count = 0] = body;
    const size = { height: (a << 8) | b, width: (c << 8) | d };
    if (this.frame !== undefined || size.width === 0 || size.height === 0 || count === 0) return false;
    if (body.length !== 6 + 3 * count) return false;
    const components = Array.from({ length: count }, (_, index) => {
      const [id = 0, sampling = 0, table = 0] = body.subarray(6 + 3 * index);
      // The blocks of a single component aren't interleaved, so its sampling factors mean nothing.
      const [horizontal, vertical] = count === 1 ? [1, 1] : [sampling >> 4, sampling & 15];
      return { id, horizontal, vertical, table };
    });
    this.frame = { marker, precision, ...size, components };
    return components.every(({ horizontal, vertical }) => isFactor(horizontal) && isFactor(vertical));
  }

  #readScan(body: Uint8Array, dataStart: number): Scan | undefined {
    const [count = 0] = body;
    const components = this.frame?.components ?? [];
    if (count === 0 || count > components.length || body.length !== 4 + 2 * count) return undefined;
    const members = Array.from({ length: count }, (_, index) => {
      const selector = body[2 + 2 * index] ?? 0;
      const component = components.findIndex(({ id }) => id === body[1 + 2 * index]);
      return { component, dc: selector >> 4, ac: selector & 15 };
    });
    const [start = 0, end = 0, approximation = 0] = body.subarray(1 + 2 * count);
    // The order of the frame; this also means that none is missing or there twice.
    const isInOrder = members.every(({ component }, index) => component > (members[index - 1]?.component ?? -1));
    if (!isInOrder) return undefined;
    return { members, start, end, high: approximation >> 4, low: approximation & 15, dataStart };
  }
}

function isFactor(sampling: number): boolean {
  return sampling >= 1 && sampling <= 4;
}
