// A copy of the built program, with or without a trick.

import { cpSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import type { Patch } from './tricks.ts';

const ROOT = path.resolve(import.meta.dirname, '../..');
/** Folders that are read at run time, and never patched. */
const LINKED = [
  'node_modules',
  'assets',
  'clients',
  'docs',
  'examples',
  'CHANGELOG.md',
  'NOTICE',
  'THIRD_PARTY_NOTICES.md',
];

export function makeVariant(directory: string, patches: readonly Patch[]): string {
  mkdirSync(directory, { recursive: true });
  for (const name of ['package.json', 'bin', 'dist']) {
    cpSync(path.join(ROOT, name), path.join(directory, name), { recursive: true });
  }
  for (const name of LINKED) symlinkSync(path.join(ROOT, name), path.join(directory, name));
  for (const { file, replace, by } of patches) {
    const target = path.join(directory, 'dist', file);
    const text = readFileSync(target, 'utf8');
    if (text.split(replace).length !== 2) throw new Error(`${file} doesn't contain "${replace}" exactly once`);
    writeFileSync(
      target,
      text.replace(replace, () => by),
    );
  }
  return directory;
}
