// Collects the parts of a file in one buffer, which doubles when it is full.

export class GrowingBuffer {
  #buffer = Buffer.alloc(0);
  #length = 0;

  add(...parts: readonly Uint8Array[]): void {
    for (const part of parts) {
      const end = this.#length + part.length;
      if (end > this.#buffer.length) this.#grow(end * 2);
      this.#buffer.set(part, this.#length);
      this.#length = end;
    }
  }

  get bytes(): Buffer {
    return this.#buffer.subarray(0, this.#length);
  }

  #grow(length: number): void {
    const larger = Buffer.allocUnsafeSlow(length);
    larger.set(this.bytes);
    this.#buffer = larger;
  }
}
