// The duration an MP4 or MOV claims for itself. The demuxer trusts its tables instead, rightly; but a file that says ten
// hours is refused as such, before anyone waits for it.

import { closeSync, openSync, readSync } from 'node:fs';

/** Top-level boxes looked at; ordinary files have fewer than ten before the index. */
const MAX_BOXES = 1_000;
const HEADER = 16;
/** Version, times, scale and duration of `mvhd`, in its longer form. */
const MOVIE_HEADER = 32;

/** Seconds, or undefined when the file does not say. */
export function claimedMovieSeconds(path: string): number | undefined {
  const file = openSync(path, 'r');
  try {
    const movie = findBox(file, 'moov', 0);
    const header = movie && findBox(file, 'mvhd', movie.content);
    return header && durationOf(read(file, header.content, MOVIE_HEADER));
  } finally {
    closeSync(file);
  }
}

interface Box {
  readonly content: number;
}

function findBox(file: number, name: string, from: number): Box | undefined {
  let at = from;
  for (let seen = 0; seen < MAX_BOXES; seen += 1) {
    const head = read(file, at, HEADER);
    if (head.length < 8) return undefined;
    const short = head.readUInt32BE(0);
    const long = short === 1 && head.length === HEADER;
    const size = long ? Number(head.readBigUInt64BE(8)) : short;
    if (head.toString('latin1', 4, 8) === name) return { content: at + (long ? 16 : 8) };
    if (size < 8) return undefined;
    at += size;
  }
  return undefined;
}

function durationOf(header: Buffer): number | undefined {
  const long = header[0] === 1;
  if (header.length < (long ? MOVIE_HEADER : 20)) return undefined;
  const scale = header.readUInt32BE(long ? 20 : 12);
  const duration = long ? Number(header.readBigUInt64BE(24)) : header.readUInt32BE(16);
  // All ones means "unknown", which is what live recordings write.
  const unknown = duration === 0 || duration >= (long ? 2 ** 64 : 2 ** 32 - 1);
  return scale === 0 || unknown ? undefined : duration / scale;
}

function read(file: number, at: number, length: number): Buffer {
  if (!Number.isSafeInteger(at)) return Buffer.alloc(0);
  const buffer = Buffer.alloc(length);
  return buffer.subarray(0, readSync(file, buffer, 0, length, at));
}
