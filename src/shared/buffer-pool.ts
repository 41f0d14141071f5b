// Reuses buffers that hold whole files. V8 counts every new buffer of this size toward the next full garbage collection, so
// allocating one per response would trigger a collection every few responses.

export class BufferPool {
  readonly #bufferBytes: number;
  readonly #maxSpare: number;
  readonly #spare: Buffer[] = [];

  /** Pooled buffers all have `bufferBytes`. At most `maxSpare` unused ones are kept. */
  constructor(bufferBytes: number, maxSpare: number) {
    this.#bufferBytes = bufferBytes;
    this.#maxSpare = maxSpare;
  }

  /** Returns an unused buffer of at least `bytes`. It isn't cleared. */
  take(bytes: number): Buffer {
    // Small files get a buffer of their own size, so many of them don't occupy as much memory as large files.
    const isSmall = bytes < this.#bufferBytes / 16;
    return isSmall ? Buffer.allocUnsafeSlow(bytes) : (this.#spare.pop() ?? Buffer.allocUnsafeSlow(this.#bufferBytes));
  }

  giveBack(buffer: Buffer): void {
    if (buffer.length === this.#bufferBytes && this.#spare.length < this.#maxSpare) this.#spare.push(buffer);
  }
}
