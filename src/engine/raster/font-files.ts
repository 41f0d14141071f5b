// Resolves a font family to its files on disk.

import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import path from 'node:path';
import type { FontFamily } from './catalogue.ts';
import { parseUnicodeRange, type Ranges } from './code-points.ts';

const require = createRequire(import.meta.url);

export interface FontFile {
  readonly familyId: string;
  /** The name under which the file is registered with the text engine. */
  readonly alias: string;
  readonly file: string;
  /** The code points of a slice; `undefined` for a font with a single file. */
  readonly ranges: Ranges | undefined;
}

/** Numbered slices contain the script itself. Named slices only repeat letters of the main font and are skipped. */
const NUMBERED_SLICE = /^\[(?<number>\d+)\]$/u;

export function fontFiles(family: FontFamily): FontFile[] {
  const folder = path.dirname(require.resolve(`${family.packageName}/package.json`));
  const { files } = family;
  if ('single' in files)
    return [{ familyId: family.id, alias: family.id, file: path.join(folder, files.single), ranges: undefined }];
  const subsets: Record<string, string> = JSON.parse(readFileSync(path.join(folder, 'unicode.json'), 'utf8'));
  return Object.entries(subsets).flatMap(([subset, ranges]) => {
    const number = NUMBERED_SLICE.exec(subset)?.groups?.['number'];
    if (number === undefined) return [];
    const file = path.join(folder, files.slice(number));
    return [{ familyId: family.id, alias: `${family.id}-${number}`, file, ranges: parseUnicodeRange(ranges) }];
  });
}

/**
 * Returns the file with the bold glyphs of a file: itself where it has a weight axis, and undefined where there are
 * none.
 */
export function boldFile(file: FontFile, { packageName, bold }: FontFamily): FontFile | undefined {
  if (bold === undefined || bold === 'axis') return bold && file;
  const folder = path.dirname(require.resolve(`${packageName}/package.json`));
  return { ...file, alias: `${file.alias}-bold`, file: path.join(folder, bold.single) };
}

/** Returns the slice of a Han family with the letters and punctuation that the main font also has. */
export function latinSlice({ id, packageName, files }: FontFamily): FontFile {
  if ('single' in files) throw new Error(`font family ${id} has no slices`);
  const folder = path.dirname(require.resolve(`${packageName}/package.json`));
  return { familyId: id, alias: `${id}-latin`, file: path.join(folder, files.slice('latin')), ranges: undefined };
}
