// Memory for whole files, used again and again. Fresh memory of this size counts against the collector's limits: every few
// answers it would walk through all the server knows, for the sake of buffers that are long done with.

export class BufferPool {
  readonly #bytes: number;
  readonly #most: number;
  readonly #spare: Buffer[] = [];

  /** All of them have `bytes`; so many are kept. */
  constructor(bytes: number, most: number) {
    this.#bytes = bytes;
    this.#most = most;
  }

  /** At least `bytes` that nobody else uses, with whatever they held before. */
  take(bytes: number): Buffer {
    // Little ones are no burden, and a crowd of them should not take up as much as large ones.
    const isSmall = bytes < this.#bytes / 16;
    return isSmall ? Buffer.allocUnsafeSlow(bytes) : (this.#spare.pop() ?? Buffer.allocUnsafeSlow(this.#bytes));
  }

  giveBack(buffer: Buffer): void {
    if (buffer.length === this.#bytes && this.#spare.length < this.#most) this.#spare.push(buffer);
  }
}
