import { availableParallelism } from 'node:os';
import { configDefaults, defineConfig } from 'vitest/config';
import { SlowestFirst } from './test/slowest-first.ts';

const SLOW = '**/*.slow.test.ts';

/** Tests in `test/` mostly wait for processes that they start, so more of them run side by side than there are cores. */
export const MAX_WORKERS = Math.min(6, 2 * availableParallelism());

export const COMMON = {
  // Limits for tests that hang. They are no measure of speed: the machine may be slow, shared or paused for a while.
  testTimeout: 600_000,
  hookTimeout: 600_000,
  expect: { poll: { timeout: 180_000 } },
  env: { DISABLE_SYSTEM_FONTS_LOAD: '1' },
  // Tests leave no global state behind, so one process can run many files and load libraries once.
  isolate: false,
  // The machines of CI are shared, so a test that ran out of time gets one more chance there. The report names it.
  retry: process.env['CI'] === undefined ? 0 : 1,
} as const;

export default defineConfig({
  test: {
    maxWorkers: MAX_WORKERS,
    sequence: { sequencer: SlowestFirst },
    ...COMMON,
    include: ['src/**/*.test.ts', 'test/**/*.test.ts'],
    exclude: [...configDefaults.exclude, SLOW],
    globalSetup: ['test/global-setup.ts'],
  },
});
