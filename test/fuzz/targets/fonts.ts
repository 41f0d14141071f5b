// Uploaded fonts: unpacked, checked by HarfBuzz and written anew, then loaded as workers load them.

import { createCanvas, GlobalFonts } from '@napi-rs/canvas';
import { AppError } from '../../../src/shared/errors.ts';
import { readWrittenFont } from '../../../src/engine/media/font/coverage.ts';
import { cleanFontName } from '../../../src/engine/media/font/font-description.ts';
import { rewriteFont } from '../../../src/engine/media/font/rewrite.ts';
import { readSfnt } from '../../../src/engine/media/font/sfnt.ts';
import { allowing, check } from '../check.ts';

const CODES = new Set(['asset_undecodable', 'unsupported_asset']);
const FORBIDDEN_TABLES = ['fpgm', 'prep', 'cvt ', 'SVG ', 'COLR', 'CBDT', 'sbix', 'EBDT', 'name', 'morx', 'Silf'];
const SAMPLE = 12;
/** Skia leaks a little of each font that it unloads. */
const DRAWN_PART = 20;
/** An instance of HarfBuzz may have this much, and two are alive at a time until the garbage is collected. */
const MAX_BYTES = 3_000_000_000;
const context = createCanvas(400, 100).getContext('2d');
let accepted = 0;

/** A written font has nothing but outlines and layout, and can be loaded and drawn. */
export function fuzz(file: Buffer): void {
  const written = allowing(isRefusal, () => rewriteFont(file));
  check(process.memoryUsage.rss() < MAX_BYTES, 'memory is bounded');
  if (written === undefined) return;
  const tables = readSfnt(written.file);
  check(
    FORBIDDEN_TABLES.every((tag) => !tables.has(tag)),
    'only outlines and layout are written',
  );
  const { characters } = readWrittenFont(written.file);
  check(characters.length === written.facts.characters && characters.length > 0, 'the characters are those written');
  const { family, style } = written.facts;
  check(
    [family, style].every((name) => name !== '' && cleanFontName(name) === name),
    'names are clean',
  );
  accepted += 1;
  if (accepted % DRAWN_PART === 1) draw(written.file, characters);
}

function isRefusal(error: unknown): boolean {
  return error instanceof AppError && CODES.has(error.code);
}

function draw(file: Uint8Array, characters: readonly number[]): void {
  const key = GlobalFonts.register(Buffer.from(file), 'fuzzed');
  if (key === null) return;
  const text = characters
    .slice(0, SAMPLE)
    .map((point) => String.fromCodePoint(point))
    .join('');
  context.font = '40px fuzzed';
  check(Number.isFinite(context.measureText(text).width), 'text has a width');
  context.fillText(text, 10, 60);
  GlobalFonts.remove(key);
}
