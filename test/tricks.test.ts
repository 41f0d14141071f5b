// The benchmark of tricks removes code by its text, which must still be there after a change.

import { readFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { TRICKS } from '../bench/tricks/tricks.ts';

const ROOT = path.resolve(import.meta.dirname, '..');
const PAGE = readFileSync(path.join(ROOT, 'docs/tricks.md'), 'utf8');
const patched = TRICKS.flatMap(({ name, without }) =>
  without === 'flags' ? [] : without.map((patch) => ({ name, ...patch })),
);

describe('tricks', () => {
  it.each(patched)('the code of "$name" is in $file exactly once', ({ file, replace }) => {
    expect(readFileSync(path.join(ROOT, 'dist', file), 'utf8').split(replace)).toHaveLength(2);
  });

  it.each(TRICKS.filter(({ name }) => name !== 'control'))('docs/tricks.md lists "$name"', ({ name }) => {
    expect(PAGE).toContain(`| ${name === 'drawInSteps' ? '`drawInSteps`' : name}`);
  });
});
