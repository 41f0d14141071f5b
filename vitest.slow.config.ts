// `npm run test:slow`: long tests, and random tests with all of their cases.

import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { defineConfig } from 'vitest/config';
import { SlowestFirst } from './test/slowest-first.ts';
import { COMMON, MAX_WORKERS } from './vitest.config.ts';

function testFiles(folder: string): string[] {
  return readdirSync(path.join(import.meta.dirname, folder), { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.test.ts'))
    .map((name) => path.join(folder, name).split(path.sep).join('/'));
}

const hasRandomCases = (file: string): boolean =>
  readFileSync(path.join(import.meta.dirname, file), 'utf8').includes('randomCases(');

export default defineConfig({
  test: {
    ...COMMON,
    env: { ...COMMON.env, TESTS_CASES: 'all' },
    include: [...testFiles('src'), ...testFiles('test')].filter(
      (file) => file.endsWith('.slow.test.ts') || hasRandomCases(file),
    ),
    globalSetup: ['test/global-setup.ts'],
    maxWorkers: MAX_WORKERS,
    sequence: { sequencer: SlowestFirst },
  },
});
