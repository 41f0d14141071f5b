// Collects the parts of a file in one buffer. With a good estimate of the final length, nothing is copied twice.

/** Estimates are usually a little too low or too high. */
const MARGIN = 1.05;

export class GrowingBuffer {
  #buffer = Buffer.alloc(0);
  #length = 0;
  #expected = 0;

  /** Announces that the file will probably have this many more bytes. */
  expectMore(bytes: number): void {
    this.#expected = Math.ceil((this.#length + bytes) * MARGIN);
  }

  add(...parts: readonly Uint8Array[]): void {
    for (const part of parts) {
      const end = this.#length + part.length;
      if (end > this.#buffer.length) this.#grow(end);
      this.#buffer.set(part, this.#length);
      this.#length = end;
    }
  }

  get bytes(): Buffer {
    return this.#buffer.subarray(0, this.#length);
  }

  #grow(minimum: number): void {
    const larger = Buffer.allocUnsafeSlow(Math.max(this.#expected, Math.ceil(minimum * MARGIN)));
    larger.set(this.bytes);
    this.#buffer = larger;
  }
}
