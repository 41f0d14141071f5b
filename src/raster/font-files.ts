// From a font family to its files on disk.

import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import path from 'node:path';
import type { FontFamily } from './catalogue.ts';
import { parseUnicodeRange, type Ranges } from './code-points.ts';

const require = createRequire(import.meta.url);

export interface FontFile {
  readonly familyId: string;
  /** The name the text engine knows this file by. */
  readonly alias: string;
  readonly file: string;
  /** What the slice is meant for; `undefined` for a font that is one file. */
  readonly ranges: Ranges | undefined;
}

/** The named slices repeat letters that the main face already has; the numbered ones are the script itself. */
const NUMBERED = /^\[(?<number>\d+)\]$/u;

export function fontFiles(family: FontFamily): FontFile[] {
  const folder = path.dirname(require.resolve(`${family.packageName}/package.json`));
  const { files } = family;
  if ('single' in files)
    return [{ familyId: family.id, alias: family.id, file: path.join(folder, files.single), ranges: undefined }];
  const subsets: Record<string, string> = JSON.parse(readFileSync(path.join(folder, 'unicode.json'), 'utf8'));
  return Object.entries(subsets).flatMap(([subset, ranges]) => {
    const number = NUMBERED.exec(subset)?.groups?.['number'];
    if (number === undefined) return [];
    const file = path.join(folder, files.slice(number));
    return [{ familyId: family.id, alias: `${family.id}-${number}`, file, ranges: parseUnicodeRange(ranges) }];
  });
}
