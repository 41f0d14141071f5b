// The size of `src` as a ledger: lines of code per folder, without comments, blank lines, imports and tests. A commit that changes a
// number changes it in `test/source-size.json`, so a reader of the history sees what each change cost.

import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';

const SOURCE = path.resolve(import.meta.dirname, '../src');

export function generateSourceSize(): string {
  const sizes = new Map<string, number>();
  for (const file of readdirSync(SOURCE, { recursive: true, encoding: 'utf8' }).toSorted()) {
    if (!file.endsWith('.ts') || file.endsWith('.test.ts')) continue;
    const lines = linesOfCode(readFileSync(path.join(SOURCE, file), 'utf8'));
    for (const folder of foldersOf(file)) sizes.set(folder, (sizes.get(folder) ?? 0) + lines);
  }
  return `${JSON.stringify(Object.fromEntries([...sizes].toSorted(([one], [other]) => (one < other ? -1 : 1))), null, 2)}\n`;
}

/** Returns `src`, the folder in it and the folder in that. */
function foldersOf(file: string): string[] {
  const [first, second] = path.dirname(file).split(path.sep);
  return [
    'src',
    ...(first === '.' ? [] : [`src/${first}`]),
    ...(second === undefined ? [] : [`src/${first}/${second}`]),
  ];
}

function linesOfCode(text: string): number {
  let isComment = false;
  let isImport = false;
  let count = 0;
  for (const line of text.split('\n').map((each) => each.trim())) {
    if (isComment) isComment = !line.includes('*/');
    else if (isImport) isImport = !line.endsWith(';');
    else if (line.startsWith('/*')) isComment = !line.includes('*/');
    else if (/^(?:import [^(]|export (?:type )?\{|export \* )/u.test(line)) isImport = !line.endsWith(';');
    else if (line !== '' && !line.startsWith('//')) count += 1;
  }
  return count;
}
