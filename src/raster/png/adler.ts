// The checksum of a zlib stream, put together from those of its pieces.

const MODULUS = 65_521;

export class Adler {
  #low = 1;
  #high = 0;

  /** The sums of the next piece, as if it stood alone, and how many bytes it has. */
  append(low: number, high: number, length: number): void {
    this.#high = (this.#high + high + length * (this.#low + MODULUS - 1)) % MODULUS;
    this.#low = (this.#low + low + MODULUS - 1) % MODULUS;
  }

  /** As it stands at the end of a stream. */
  get bytes(): Buffer {
    const trailer = Buffer.alloc(4);
    trailer.writeUInt16BE(this.#high, 0);
    trailer.writeUInt16BE(this.#low, 2);
    return trailer;
  }
}
