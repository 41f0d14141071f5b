// Operators search the log for the entries that the documentation quotes, so each of them must exist in the code.

import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { expect, it } from 'vitest';

const ROOT = path.resolve(import.meta.dirname, '..');
const LOG_COLUMN = /^\| (?:Log entry|In the log\b)/u;

const source = readdirSync(path.join(ROOT, 'src'), { recursive: true, encoding: 'utf8' })
  .filter((file) => file.endsWith('.ts'))
  .map((file) => readFileSync(path.join(ROOT, 'src', file), 'utf8'))
  .join('\n');

/** The quoted entries in the first column of every table about log entries. */
function quotedEntries(markdown: string): string[] {
  const entries: string[] = [];
  let isLogTable = false;
  for (const line of markdown.split('\n')) {
    if (!line.startsWith('|')) isLogTable = false;
    else if (LOG_COLUMN.test(line)) isLogTable = true;
    const entry = /^\| `(?<entry>[^`]+)`/u.exec(line)?.groups?.['entry'];
    if (isLogTable && entry !== undefined) entries.push(entry);
  }
  return entries;
}

const documented = readdirSync(path.join(ROOT, 'docs'))
  .filter((file) => file.endsWith('.md'))
  .flatMap((file) => quotedEntries(readFileSync(path.join(ROOT, 'docs', file), 'utf8')).map((entry) => [file, entry]));

it('the documentation has tables of log entries', () => {
  expect(documented.length).toBeGreaterThan(5);
});

it.each(documented)('%s quotes the log entry "%s", which the code writes', (_file, entry) => {
  expect(source.includes(entry)).toBe(true);
});
