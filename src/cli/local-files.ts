// Files that commands read and write. They are separate from the commands, because rendering loads far more code than
// sending.

import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { messageOf } from '../shared/error-facts.ts';
import { UsageError } from './exit-codes.ts';

export async function readSubtitles(file: string): Promise<string> {
  return await readFile(file, 'utf8').catch((error: unknown) => {
    throw new UsageError(`cannot read ${file}: ${messageOf(error)}`);
  });
}

export function outputNextTo(asset: string, extension: string): string {
  const { dir, name } = path.parse(asset);
  return path.join(dir, `${name}-captioned.${extension}`);
}
