// Detects whether a file that FFmpeg can't read is encrypted. FFmpeg itself would report a damaged header or a missing
// codec.

import { closeSync, fstatSync, openSync, readSync } from 'node:fs';
import type { VideoFormat } from '../../sniff.ts';

/** The description of the tracks is near the start of the file or, in many MP4 files, near its end. */
const SEARCHED_BYTES = 1_000_000;
/** Sample entries of encrypted tracks and of DRM, and the box that names the scheme. */
const MP4_MARKS = ['encv', 'enca', 'drmi', 'drms', 'schm'];
/** The Matroska element ContentEncryption with its length, then ContentEncAlgo or ContentEncKeyID. */
const MATROSKA_MARK = /\x50\x35[^]{1,8}\x47[\xe1\xe2]/u;

export function isEncryptedFile(path: string, format: VideoFormat): boolean {
  if (format === 'animation') return false;
  const file = openSync(path, 'r');
  try {
    const { size } = fstatSync(file);
    const head = readText(file, 0);
    if (format === 'webm') return MATROSKA_MARK.test(head);
    const texts = [head, readText(file, Math.max(0, size - SEARCHED_BYTES))];
    return texts.some((text) => MP4_MARKS.some((mark) => text.includes(mark)));
  } finally {
    closeSync(file);
  }
}

function readText(file: number, at: number): string {
  const buffer = Buffer.alloc(SEARCHED_BYTES);
  return buffer.toString('latin1', 0, readSync(file, buffer, 0, SEARCHED_BYTES, at));
}
