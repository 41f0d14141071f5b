// The headers of all other files: detecting the format, the bytes that an image needs, and the duration that a video claims.

import { mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { lacksMostData } from '../../../src/engine/media/data-bounds.ts';
import { ASSET_FORMATS, isAnimation, isVideoFormat, sniff } from '../../../src/engine/media/sniff.ts';
import { claimedMovieSeconds } from '../../../src/engine/media/video/probe/movie-header.ts';
import { withAlphaHint } from '../../../src/engine/media/webp-alpha.ts';
import { check } from '../check.ts';

const PATH = path.join(mkdtempSync(path.join(tmpdir(), 'fuzz-')), 'file');

/** Every file has one of our formats or none, and no header makes a parser throw. */
export function fuzz(file: Buffer): void {
  const format = sniff(file);
  check(format === undefined || ASSET_FORMATS.includes(format), 'the format is known');
  check(!isAnimation(file) || format === 'gif' || format === 'webp', 'only GIF and WebP files are animations');
  lacksMostData(file);
  const hinted = withAlphaHint(file);
  check(hinted === undefined || hinted.length === file.length, 'the hint has its place in the file');
  check(hinted === undefined || withAlphaHint(hinted) === undefined, 'the hint is set once');
  if (format === undefined || !isVideoFormat(format)) return;
  writeFileSync(PATH, file);
  const seconds = claimedMovieSeconds(PATH);
  check(seconds === undefined || (seconds > 0 && Number.isFinite(seconds)), 'a duration is a positive number');
}
