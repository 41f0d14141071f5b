// A zlib stream assembled from separately compressed pieces. Only rows with pixels are compressed. Runs of zero bytes
// come from a small cache, so the empty part of a canvas costs nothing.

import { constants, deflateRawSync, deflateSync } from 'node:zlib';
import { Adler } from './adler.ts';

const MAX_RUN = 1 << 22;
/** An empty final block. */
const LAST_BLOCK = Uint8Array.of(0x03, 0x00);
const HEADER = Uint8Array.of(0x78, 0x01);

/** A cache of compressed runs of zeros. Their lengths are powers of two, so it has about 20 entries at most. */
export class ZeroRuns {
  readonly #pieces = new Map<number, Buffer>();

  piece(length: number): Buffer {
    const cached = this.#pieces.get(length);
    if (cached) return cached;
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

  addBytes(bytes: Uint8Array, level: number, times = 1): void {
    const piece = compress(bytes, level);
    const { low, high } = checksum(bytes);
    for (let time = 0; time < times; time += 1) {
      this.#parts.push(piece);
      this.#adler.append(low, high, bytes.length);
    }
  }

  finish(): Uint8Array[] {
    return [...this.#parts, LAST_BLOCK, this.#adler.bytes];
  }
}

/** Takes the Adler-32 from an uncompressed zlib stream, because Node doesn't expose zlib's vectorized one. */
function checksum(bytes: Uint8Array): { readonly low: number; readonly high: number } {
  const stored = deflateSync(bytes, { level: 0, chunkSize: bytes.length + 1024 });
  return { low: stored.readUInt16BE(stored.length - 2), high: stored.readUInt16BE(stored.length - 4) };
}

/** A full flush ends each piece on a byte boundary and resets the window, so pieces can be joined in any order. */
function compress(bytes: Uint8Array, level: number): Buffer {
  return deflateRawSync(bytes, { level, finishFlush: constants.Z_FULL_FLUSH });
}
