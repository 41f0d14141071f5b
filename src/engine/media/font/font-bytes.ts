// Reads and writes the numbers of font files, which are big-endian. Every read is checked against the end of its table, so no
// offset in a hostile file leads outside of it.

import { damagedFont } from './refusal.ts';

export class FontReader {
  readonly #bytes: Uint8Array;
  readonly #view: DataView;
  #at: number;

  constructor(bytes: Uint8Array, at = 0) {
    // Slices of a Node.js buffer would share its memory.
    this.#bytes = new Uint8Array(bytes.buffer, bytes.byteOffset, bytes.byteLength);
    this.#view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
    this.#at = at;
  }

  get at(): number {
    return this.#at;
  }

  get isAtEnd(): boolean {
    return this.#at >= this.#bytes.length;
  }

  uint8(): number {
    return this.#view.getUint8(this.#advance(1));
  }

  uint16(): number {
    return this.#view.getUint16(this.#advance(2));
  }

  int16(): number {
    return this.#view.getInt16(this.#advance(2));
  }

  uint32(): number {
    return this.#view.getUint32(this.#advance(4));
  }

  tag(): string {
    return String.fromCharCode(this.uint8(), this.uint8(), this.uint8(), this.uint8());
  }

  take(length: number): Uint8Array {
    const from = this.#advance(length);
    return this.#bytes.subarray(from, from + length);
  }

  skip(length: number): void {
    this.#advance(length);
  }

  #advance(length: number): number {
    const from = this.#at;
    if (from < 0 || from + length > this.#bytes.length) throw damagedFont('it ends too early');
    this.#at = from + length;
    return from;
  }
}

/** A buffer that grows as numbers are written to it. */
export class FontWriter {
  #bytes: Uint8Array;
  #view: DataView;
  #length = 0;

  constructor(capacity = 1_024) {
    this.#bytes = new Uint8Array(capacity);
    this.#view = new DataView(this.#bytes.buffer);
  }

  get length(): number {
    return this.#length;
  }

  uint8(value: number): void {
    const at = this.#grow(1);
    this.#view.setUint8(at, value);
  }

  uint16(value: number): void {
    const at = this.#grow(2);
    this.#view.setUint16(at, value);
  }

  int16(value: number): void {
    const at = this.#grow(2);
    this.#view.setInt16(at, value);
  }

  uint32(value: number): void {
    const at = this.#grow(4);
    this.#view.setUint32(at, value);
  }

  tag(text: string): void {
    for (const char of text) this.uint8(char.charCodeAt(0));
  }

  bytes(bytes: Uint8Array): void {
    const at = this.#grow(bytes.length);
    this.#bytes.set(bytes, at);
  }

  /** Fills up with zeros to a multiple of some bytes. */
  pad(multiple: number): void {
    while (this.#length % multiple !== 0) this.uint8(0);
  }

  finish(): Uint8Array {
    return this.#bytes.slice(0, this.#length);
  }

  #grow(length: number): number {
    const from = this.#length;
    this.#length += length;
    if (this.#length > this.#bytes.length) {
      const larger = new Uint8Array(Math.max(this.#length, this.#bytes.length * 2));
      larger.set(this.#bytes);
      this.#bytes = larger;
      this.#view = new DataView(larger.buffer);
    }
    return from;
  }
}
