// Checks that the programs a run requires are there, and starts the PostgreSQL server that all test files share.

import { readFileSync } from 'node:fs';
import type { TestProject } from 'vitest/node';
import { createPostgres } from './postgres-server.ts';
import { assertRequiredPrograms } from './required-programs.ts';

declare module 'vitest' {
  interface ProvidedContext {
    /** Empty when PostgreSQL isn't available. */
    postgresUrl: string;
  }
}

export async function setup(project: TestProject): Promise<() => Promise<void>> {
  await assertRequiredPrograms(process.env['TESTS_REQUIRE'] ?? '');
  const configuredUrl = process.env['TESTS_POSTGRES_URL'] ?? '';
  const isNeeded = configuredUrl === '' && isUsed(project, "inject('postgresUrl')");
  const postgres = isNeeded ? await createPostgres() : undefined;
  project.provide('postgresUrl', postgres?.url ?? configuredUrl);
  return async () => {
    await postgres?.remove();
  };
}

/** Looks for tests that use it, so that `vitest run src/engine/layout` doesn't wait for a database. */
function isUsed(project: TestProject, code: string): boolean {
  const files = project.vitest.state.getPaths();
  return files.length === 0 || files.some((file) => readFileSync(file, 'utf8').includes(code));
}
