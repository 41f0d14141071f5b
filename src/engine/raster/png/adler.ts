// Combines the Adler-32 checksums of consecutive pieces into that of the whole zlib stream.

const MODULUS = 65_521;

export class Adler {
  #low = 1;
  #high = 0;

  /** `low` and `high` are the two sums of the next piece's own checksum, and `length` is its size in bytes. */
  append(low: number, high: number, length: number): void {
    this.#high = (this.#high + high + length * (this.#low + MODULUS - 1)) % MODULUS;
    this.#low = (this.#low + low + MODULUS - 1) % MODULUS;
  }

  /** Returns the checksum in the byte order of the stream trailer. */
  get bytes(): Buffer {
    const trailer = Buffer.alloc(4);
    trailer.writeUInt16BE(this.#high, 0);
    trailer.writeUInt16BE(this.#low, 2);
    return trailer;
  }
}
