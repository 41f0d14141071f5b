// A zlib stream assembled from pieces that were compressed apart, so that the empty part of a canvas costs nothing: runs of
// zero bytes come from a small cache, only the rows with pixels are deflated.

import { constants, deflateRawSync, deflateSync } from 'node:zlib';
import { Adler } from './adler.ts';

const MAX_RUN = 1 << 22;
/** A block that ends the stream and holds nothing. */
const LAST_BLOCK = Uint8Array.of(0x03, 0x00);
const HEADER = Uint8Array.of(0x78, 0x01);

/** Compressed runs of zeros, by power of two; about 20 entries at most. */
export class ZeroRuns {
  readonly #pieces = new Map<number, Buffer>();

  piece(length: number): Buffer {
    const known = this.#pieces.get(length);
    if (known) return known;
    const piece = compress(Buffer.alloc(length), 9);
    this.#pieces.set(length, piece);
    return piece;
  }
}

export class PiecewiseDeflate {
  readonly #parts: Uint8Array[] = [HEADER];
  readonly #zeros: ZeroRuns;
  readonly #adler = new Adler();

  constructor(zeros: ZeroRuns) {
    this.#zeros = zeros;
  }

  addZeros(length: number): void {
    let rest = length;
    for (let size = MAX_RUN; size > 0; size >>= 1) {
      for (; rest >= size; rest -= size) this.#parts.push(this.#zeros.piece(size));
    }
    this.#adler.append(1, length, length);
  }

  addBytes(bytes: Uint8Array, level: number): void {
    this.#parts.push(compress(bytes, level));
    this.#checksum(bytes);
  }

  finish(): Uint8Array[] {
    return [...this.#parts, LAST_BLOCK, this.#adler.bytes];
  }

  /** zlib's own Adler-32, which is vectorised, by way of a stream that only stores; then joined to the sum so far. */
  #checksum(bytes: Uint8Array): void {
    const stored = deflateSync(bytes, { level: 0, chunkSize: bytes.length + 1024 });
    const low = stored.readUInt16BE(stored.length - 2);
    const high = stored.readUInt16BE(stored.length - 4);
    this.#adler.append(low, high, bytes.length);
  }
}

/** A full flush ends every piece on a byte boundary with an empty window: pieces can be joined in any order. */
function compress(bytes: Uint8Array, level: number): Buffer {
  return deflateRawSync(bytes, { level, finishFlush: constants.Z_FULL_FLUSH });
}
