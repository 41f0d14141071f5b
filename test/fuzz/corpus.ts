// The corpus of a target: small valid files, and inputs that once caused a finding.

import { existsSync, readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';

export interface CorpusFile {
  readonly name: string;
  readonly bytes: Buffer;
}

const CORPUS = path.join(import.meta.dirname, 'corpus');

/** By default, those of the repository. */
export function corpusOf(target: string, root: string = CORPUS): CorpusFile[] {
  const folder = path.join(root, target);
  if (!existsSync(folder)) return [];
  return readdirSync(folder)
    .toSorted()
    .filter((name) => root === CORPUS || !name.startsWith('finding'))
    .map((name) => ({ name, bytes: readFileSync(path.join(folder, name)) }));
}
