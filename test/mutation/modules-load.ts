// Stryker counts only failed tests. A mutant that keeps a module from being loaded fails whole test files, so without this test it
// would count as not noticed.

import path from 'node:path';
import { expect, inject, it } from 'vitest';

declare module 'vitest' {
  interface ProvidedContext {
    mutatedFiles: string[];
  }
}

it.each(inject('mutatedFiles'))('%s can be loaded', async (file) => {
  expect(await import(path.resolve(file))).toBeDefined();
});
