// The chunks of PNG files.

import { pngEncoding, withoutInvalidChunks } from '../../../src/engine/media/color/png-color.ts';
import { lacksMostData } from '../../../src/engine/media/data-bounds.ts';
import { hasBrokenPngHeader } from '../../../src/engine/media/png-header.ts';
import { check } from '../check.ts';

/** Removing invalid chunks only removes bytes, and all of them at once. Numbers that describe colors can be used. */
export function fuzz(file: Buffer): void {
  hasBrokenPngHeader(file);
  lacksMostData(file);
  const valid = withoutInvalidChunks(file);
  check(valid.length <= file.length, 'nothing is added');
  check(withoutInvalidChunks(valid).length === valid.length, 'nothing invalid is left');
  for (const hasProfile of [false, true]) {
    const encoding = pngEncoding(file, hasProfile);
    if (encoding === undefined) continue;
    check(encoding.chromaticities.every(Number.isFinite), 'chromaticities are numbers');
    check(typeof encoding.transfer === 'string' || encoding.transfer > 0, 'a gamma is positive');
  }
}
