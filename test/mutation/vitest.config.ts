// Runs the tests of one part, which `run.ts` names in a variable, without PostgreSQL.

import { defineConfig } from 'vitest/config';
import { COMMON } from '../../vitest.config.ts';
import { partNamed } from './parts.ts';

const { files, tests } = partNamed(process.env['MUTATED_PART'] ?? '');

export default defineConfig({
  test: {
    ...COMMON,
    // Mutants of constants have an effect only when their modules are loaded again.
    isolate: true,
    retry: 0,
    include: ['test/mutation/modules-load.ts', ...tests],
    setupFiles: ['test/mutation/same-random-cases.ts'],
    provide: { postgresUrl: '', mutatedFiles: [...files] },
  },
});
