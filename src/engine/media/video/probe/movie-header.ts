// Reads the duration from the `mvhd` box of an MP4 or MOV. FFmpeg derives it from the sample tables instead, but a file
// that declares ten hours should be rejected for that before anything else happens.

import { closeSync, openSync, readSync } from 'node:fs';

/** Ordinary files have fewer than ten boxes before `moov`. */
const MAX_BOXES = 1_000;
const BOX_HEADER_BYTES = 16;
/** The version, times, time scale and duration of `mvhd` in its 64-bit form. */
const MOVIE_HEADER_BYTES = 32;

/** Returns undefined when the file declares no duration. */
export function claimedMovieSeconds(path: string): number | undefined {
  const file = openSync(path, 'r');
  try {
    const movie = findBox(file, 'moov', 0);
    const header = movie && findBox(file, 'mvhd', movie.content);
    return header && durationOf(read(file, header.content, MOVIE_HEADER_BYTES));
  } finally {
    closeSync(file);
  }
}

interface Box {
  readonly content: number;
}

function findBox(file: number, name: string, from: number): Box | undefined {
  let at = from;
  for (let count = 0; count < MAX_BOXES; count += 1) {
    const head = read(file, at, BOX_HEADER_BYTES);
    if (head.length < 8) return undefined;
    const shortSize = head.readUInt32BE(0);
    const isLong = shortSize === 1 && head.length === BOX_HEADER_BYTES;
    const size = isLong ? Number(head.readBigUInt64BE(8)) : shortSize;
    if (head.toString('latin1', 4, 8) === name) return { content: at + (isLong ? 16 : 8) };
    if (size < 8) return undefined;
    at += size;
  }
  return undefined;
}

function durationOf(header: Buffer): number | undefined {
  const isLong = header[0] === 1;
  if (header.length < (isLong ? MOVIE_HEADER_BYTES : 20)) return undefined;
  const scale = header.readUInt32BE(isLong ? 20 : 12);
  const duration = isLong ? Number(header.readBigUInt64BE(24)) : header.readUInt32BE(16);
  // All bits set means "unknown". Live recordings write that.
  const isUnknown = duration === 0 || duration >= (isLong ? 2 ** 64 : 2 ** 32 - 1);
  return scale === 0 || isUnknown ? undefined : duration / scale;
}

function read(file: number, at: number, length: number): Buffer {
  if (!Number.isSafeInteger(at)) return Buffer.alloc(0);
  const buffer = Buffer.alloc(length);
  return buffer.subarray(0, readSync(file, buffer, 0, length, at));
}
