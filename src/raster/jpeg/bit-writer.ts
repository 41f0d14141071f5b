// Collects bits, most significant first, in a buffer that grows.

const MIN_ROOM = 16;
/** Rows with text take more bits than before. */
const EXTRA_BYTES = 65_536;
const MAX_BITS = 24;

export class BitWriter {
  #bytes: Uint8Array;
  #length = 0;
  /** Bits that don't fill a byte yet, at most seven. */
  #pending = 0;
  #pendingBits = 0;

  /** `sourceBytes` is the size of the data, most of which will be written again. */
  constructor(sourceBytes: number) {
    this.#bytes = new Uint8Array(sourceBytes + EXTRA_BYTES);
  }

  /** Writes at most 24 bits. */
  write(value: number, bits: number): void {
    this.#pending = (this.#pending << bits) | value;
    this.#pendingBits += bits;
    if (this.#length + MIN_ROOM > this.#bytes.length) this.#grow(MIN_ROOM);
    while (this.#pendingBits >= 8) {
      this.#pendingBits -= 8;
      this.#bytes[this.#length] = this.#pending >>> this.#pendingBits;
      this.#length += 1;
    }
    this.#pending &= (1 << this.#pendingBits) - 1;
  }

  /** Writes a code of at most 16 bits and a value of at most 11. */
  writePair(code: number, codeBits: number, value: number, valueBits: number): void {
    if (codeBits + valueBits <= MAX_BITS) this.write((code << valueBits) | value, codeBits + valueBits);
    else {
      this.write(code, codeBits);
      this.write(value, valueBits);
    }
  }

  /** Copies the bits from `from` up to `to` of `source`. */
  copy(source: Uint8Array, from: number, to: number): void {
    let at = from;
    const head = Math.min(to - at, -at & 7);
    if (head > 0) this.write(((source[at >>> 3] ?? 0) >> (8 - (at & 7) - head)) & ((1 << head) - 1), head);
    at += head;
    const bytes = (to - at) >>> 3;
    if (this.#length + bytes + MIN_ROOM > this.#bytes.length) this.#grow(bytes + MIN_ROOM);
    if (this.#pendingBits === 0) this.#bytes.set(source.subarray(at >>> 3, (at >>> 3) + bytes), this.#length);
    else
      this.#pending = copyShifted(source, at >>> 3, bytes, this.#bytes, this.#length, this.#pending, this.#pendingBits);
    this.#length += bytes;
    at += bytes * 8;
    const rest = to - at;
    if (rest > 0) this.write((source[at >>> 3] ?? 0) >> (8 - rest), rest);
  }

  /** Fills the last byte with ones, as the standard requires, and returns the number of bytes so far. */
  align(): number {
    if (this.#pendingBits > 0) this.write((1 << (8 - this.#pendingBits)) - 1, 8 - this.#pendingBits);
    return this.#length;
  }

  get bytes(): Uint8Array {
    return this.#bytes.subarray(0, this.#length);
  }

  #grow(room: number): void {
    const larger = new Uint8Array(Math.ceil((this.#length + room) * 1.5));
    larger.set(this.bytes);
    this.#bytes = larger;
  }
}

/** Returns the remaining bits. It is a function with local variables for speed, because it copies most of a photo. */
function copyShifted(
  source: Uint8Array,
  from: number,
  count: number,
  target: Uint8Array,
  to: number,
  pending: number,
  pendingBits: number,
): number {
  let bits = pending;
  const mask = (1 << pendingBits) - 1;
  const words = count & ~3;
  const input = new DataView(source.buffer, source.byteOffset + from, words);
  const output = new DataView(target.buffer, target.byteOffset + to, words);
  for (let index = 0; index < words; index += 4) {
    const word = input.getInt32(index);
    output.setInt32(index, (bits << (32 - pendingBits)) | (word >>> pendingBits));
    bits = word & mask;
  }
  for (let index = words; index < count; index += 1) {
    const byte = source[from + index] ?? 0;
    target[to + index] = (bits << (8 - pendingBits)) | (byte >>> pendingBits);
    bits = byte & mask;
  }
  return bits;
}
