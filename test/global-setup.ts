// Checks that the programs a run requires are there, and starts one PostgreSQL server for all test files.

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
  await assertRequiredPrograms(process.env['STORYBAR_TESTS_REQUIRE'] ?? '');
  const configuredUrl = process.env['STORYBAR_TEST_POSTGRES_URL'] ?? '';
  const server = configuredUrl === '' && needsPostgres(project) ? await createPostgres() : undefined;
  project.provide('postgresUrl', server?.url ?? configuredUrl);
  return async () => await server?.remove();
}

/** Looks for tests that use the server, so that `vitest run src/layout` doesn't wait for a database. */
function needsPostgres(project: TestProject): boolean {
  const files = project.vitest.state.getPaths();
  return files.length === 0 || files.some((file) => readFileSync(file, 'utf8').includes("inject('postgresUrl')"));
}
