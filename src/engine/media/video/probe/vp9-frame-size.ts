// Reads the size in the header of a VP9 frame. The size can change at any frame, without a keyframe. The names are those
// of section 6.2 of the VP9 bitstream specification.

import type { Size } from '../../../layout/geometry.ts';

const SRGB = 7;
const REFERENCES = 3;
/** The header up to the size has fewer bytes. */
const HEADER_BYTES = 24;

/** Returns undefined for a frame that has the size of an earlier one, and for data that ends too early. */
export function vp9FrameSize(data: Uint8Array): Size | undefined {
  const reader = new BitReader(data.subarray(0, HEADER_BYTES));
  const size = readSize(reader);
  return reader.isPastEnd ? undefined : size;
}

function readSize(reader: BitReader): Size | undefined {
  const FRAME_MARKER = 2;
  if (reader.bits(2) !== FRAME_MARKER) return undefined;
  const profile = reader.bits(1) + 2 * reader.bits(1);
  if (profile === 3) reader.bits(1);
  const isExistingFrame = reader.bits(1) === 1;
  if (isExistingFrame) return undefined;
  const isKeyframe = reader.bits(1) === 0;
  const isShown = reader.bits(1) === 1;
  const isErrorResilient = reader.bits(1) === 1;
  if (isKeyframe) {
    skipSyncCode(reader);
    skipColorConfig(reader, profile);
    return frameSize(reader);
  }
  const isIntraOnly = !isShown && reader.bits(1) === 1;
  if (!isErrorResilient) reader.bits(2);
  if (isIntraOnly) {
    skipSyncCode(reader);
    if (profile > 0) skipColorConfig(reader, profile);
    reader.bits(8);
    return frameSize(reader);
  }
  reader.bits(8);
  reader.bits(4 * REFERENCES);
  for (let reference = 0; reference < REFERENCES; reference += 1) {
    const hasSizeOfReference = reader.bits(1) === 1;
    if (hasSizeOfReference) return undefined;
  }
  return frameSize(reader);
}

function skipSyncCode(reader: BitReader): void {
  reader.bits(24);
}

function skipColorConfig(reader: BitReader, profile: number): void {
  const hasSubsampling = profile === 1 || profile === 3;
  if (profile >= 2) reader.bits(1);
  const colorSpace = reader.bits(3);
  if (colorSpace !== SRGB) reader.bits(hasSubsampling ? 4 : 1);
  else if (hasSubsampling) reader.bits(1);
}

function frameSize(reader: BitReader): Size {
  return { width: reader.bits(16) + 1, height: reader.bits(16) + 1 };
}

class BitReader {
  readonly #data: Uint8Array;
  #at = 0;

  constructor(data: Uint8Array) {
    this.#data = data;
  }

  get isPastEnd(): boolean {
    return this.#at > this.#data.length * 8;
  }

  bits(count: number): number {
    let value = 0;
    for (let left = count; left > 0; left -= 1, this.#at += 1) {
      const byte = this.#data[this.#at >> 3] ?? 0;
      value = value * 2 + ((byte >> (7 - (this.#at & 7))) & 1);
    }
    return value;
  }
}
