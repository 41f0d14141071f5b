// Data files with text, in the folder of the same name. Its README says where they come from.

import { readFileSync } from 'node:fs';
import path from 'node:path';

export function textData(file: string): string {
  return readFileSync(path.join(import.meta.dirname, 'text-data', file), 'utf8');
}

/** Lines of a file without empty lines and comments. */
export function dataLines(file: string): string[] {
  return textData(file)
    .split('\n')
    .filter((line) => line.trim() !== '' && !line.startsWith('#'));
}
