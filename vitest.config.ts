import { defineConfig } from 'vitest/config';

export default defineConfig({
  test: {
    include: ['src/**/*.test.ts', 'test/**/*.test.ts'],
    globalSetup: ['test/global-setup.ts'],
    // Renders are CPU-bound, so more test files in parallel would only slow each other down on small machines.
    maxWorkers: 2,
    testTimeout: 60_000,
    hookTimeout: 120_000,
    env: { DISABLE_SYSTEM_FONTS_LOAD: '1' },
  },
});
