// Reads numbers and boxes of ISO base media files. Every read is checked against the end of its box, so no length in a
// hostile file leads outside of it.

import { damagedHeif } from './refusal.ts';

export interface Box {
  readonly type: string;
  /** The bytes after the header. */
  readonly body: Buffer;
}

/** No real file has more boxes side by side. */
const MAX_BOXES = 10_000;

export class ByteReader {
  readonly #bytes: Buffer;
  #at = 0;

  constructor(bytes: Buffer) {
    this.#bytes = bytes;
  }

  get rest(): Buffer {
    return this.#bytes.subarray(this.#at);
  }

  /** Reads an unsigned number of 0, 1, 2, 3, 4 or 8 bytes. */
  number(size: number): number {
    const bytes = this.take(size);
    if (size === 0) return 0;
    if (size < 8) return bytes.readUIntBE(0, size);
    const value = bytes.readUInt32BE(0) * 2 ** 32 + bytes.readUInt32BE(4);
    if (!Number.isSafeInteger(value)) throw damagedHeif();
    return value;
  }

  signed32(): number {
    return this.take(4).readInt32BE(0);
  }

  text(size: number): string {
    return this.take(size).toString('latin1');
  }

  take(size: number): Buffer {
    const end = this.#at + size;
    if (end > this.#bytes.length) throw damagedHeif();
    const taken = this.#bytes.subarray(this.#at, end);
    this.#at = end;
    return taken;
  }

  /** Reads the version and flags that many boxes start with. */
  versionAndFlags(): { readonly version: number; readonly flags: number } {
    return { version: this.number(1), flags: this.number(3) };
  }
}

/** Returns the boxes in another box. */
export function boxesIn(bytes: Buffer): Box[] {
  const boxes: Box[] = [];
  for (let at = 0; at + 8 <= bytes.length; ) {
    const { end, ...box } = boxAt(bytes, at);
    if (end > bytes.length || boxes.length === MAX_BOXES) throw damagedHeif();
    boxes.push(box);
    at = end;
  }
  return boxes;
}

/** Returns the outermost boxes up to one of type `last`. Phones append data other than boxes to their files. */
export function boxesUpTo(last: string, file: Buffer): Box[] {
  const boxes: Box[] = [];
  for (let at = 0; at + 8 <= file.length && boxes.length < MAX_BOXES; ) {
    const { end, ...box } = boxAt(file, at);
    boxes.push(box);
    if (box.type === last) {
      if (end > file.length) throw damagedHeif();
      break;
    }
    at = end;
  }
  return boxes;
}

function boxAt(bytes: Buffer, at: number): Box & { readonly end: number } {
  const reader = new ByteReader(bytes.subarray(at));
  const short = reader.number(4);
  const type = reader.text(4);
  // A size of 1 announces a longer number, and 0 means up to the end of the file.
  const size = short === 1 ? reader.number(8) : short === 0 ? bytes.length - at : short;
  const headerSize = short === 1 ? 16 : 8;
  if (size < headerSize) throw damagedHeif();
  return { type, body: bytes.subarray(at + headerSize, at + size), end: at + size };
}
