// Real JPEGs: bars drawn into their data, and turned, compared with the decoder and jpegtran.

import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { must } from '../src/shared/must.ts';
import { readHeaders } from '../src/engine/raster/jpeg/headers.ts';
import { spliceBands } from '../src/engine/raster/jpeg/splice.ts';
import { readUprightHeaders } from '../src/engine/raster/jpeg/turn.ts';
import { barsOn, pixelsOf } from './jpeg-samples.ts';
import { randomCases } from './random-cases.ts';
import { filesOf, hasSharedMedia, sharedMedia } from './shared-media.ts';

/** A quarter turn and a half turn come first, because they contain all others. */
const ORIENTATIONS = [6, 3, 2, 4, 5, 7, 8] as const;
/** Turns as `jpegtran` calls them. */
const TURNS: Readonly<Record<(typeof ORIENTATIONS)[number], readonly string[]>> = {
  2: ['-flip', 'horizontal'],
  3: ['-rotate', '180'],
  4: ['-flip', 'vertical'],
  5: ['-transpose'],
  6: ['-rotate', '90'],
  7: ['-transverse'],
  8: ['-rotate', '270'],
};

const FILES = ['jpeg_photos', 'jpeg_variants', 'jpeg_orientation', 'jpeg_hdr'].flatMap((folder) => filesOf(folder));
/** The other files of this folder have the same sizes and tables. */
const BESIDE_JPEGTRAN = FILES.filter((file) => !/(?:Landscape|Portrait)_[^16]/u.test(file)).filter(
  (file) => readHeaders(readFileSync(sharedMedia(file)))?.isCarriable,
);
const LARGE_PIXELS = 2_000_000;
const TURNS_OF_SMALLER_FILES = randomCases({ usually: 2, all: ORIENTATIONS.length });
const hasJpegtran = spawnSync('jpegtran', ['-version']).error === undefined;

describe.skipIf(!hasSharedMedia || !hasJpegtran)('beside jpegtran (skipped without it or ../shared/media)', () => {
  it.each(BESIDE_JPEGTRAN)(
    'turns %s to the same pixels, or leaves it to the decoder where jpegtran refuses it too',
    async (file) => {
      const source = readFileSync(sharedMedia(file));
      const { width, height } = must(readHeaders(source), 'headers');
      const turns = width * height > LARGE_PIXELS ? 2 : TURNS_OF_SMALLER_FILES;
      for (const orientation of ORIENTATIONS.slice(0, turns)) {
        const ours = spliceBands(source, { bands: [] }, { orientation });
        const args = ['-copy', 'none', '-perfect', ...TURNS[orientation], sharedMedia(file)];
        const { stdout, status } = spawnSync('jpegtran', args, { maxBuffer: 100e6 });
        const isSame = ours !== undefined && (await pixelsOf(ours)).equals(await pixelsOf(stdout));
        expect([orientation, ours !== undefined, isSame]).toEqual([orientation, status === 0, status === 0]);
      }
    },
  );
});

describe.skipIf(!hasSharedMedia)('spliceBands on damaged files, turned (skipped without ../shared/media)', () => {
  it.each(filesOf('jpeg_corrupt'))('spliceBands never throws on %s', (file) => {
    const source = readFileSync(sharedMedia(file));
    for (const orientation of ORIENTATIONS) {
      const headers = readUprightHeaders(source, orientation);
      expect(() => spliceBands(source, { bands: headers ? barsOn(headers, 3) : [] }, { orientation })).not.toThrow();
    }
  });
});

describe.skipIf(!hasSharedMedia)('spliceBands on damaged files (skipped without ../shared/media)', () => {
  it.each(filesOf('jpeg_corrupt'))('never throws on the damaged file %s', (file) => {
    const source = readFileSync(sharedMedia(file));
    const headers = readHeaders(source);
    expect(() => spliceBands(source, { bands: headers ? barsOn(headers, 3) : [] })).not.toThrow();
  });
});
