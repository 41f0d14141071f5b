// Checks that the programs a run requires are there, and starts what all test files share: a PostgreSQL server and one of ours.

import { readFileSync } from 'node:fs';
import type { TestProject } from 'vitest/node';
import { createPostgres } from './postgres-server.ts';
import { assertRequiredPrograms } from './required-programs.ts';
import { startServer } from './running-server.ts';
import { SHARED_SETTINGS } from './shared-server.ts';

declare module 'vitest' {
  interface ProvidedContext {
    /** Empty when PostgreSQL isn't available. */
    postgresUrl: string;
  }
}

export async function setup(project: TestProject): Promise<() => Promise<void>> {
  await assertRequiredPrograms(process.env['STORYBAR_TESTS_REQUIRE'] ?? '');
  const configuredUrl = process.env['STORYBAR_TEST_POSTGRES_URL'] ?? '';
  const [postgres, server] = await Promise.all([
    configuredUrl === '' && isUsed(project, "inject('postgresUrl')") ? createPostgres() : undefined,
    isUsed(project, 'await sharedServer()') ? startServer(SHARED_SETTINGS) : undefined,
  ]);
  project.provide('postgresUrl', postgres?.url ?? configuredUrl);
  project.provide('sharedServer', server && { url: server.url, dataDirectory: server.dataDirectory });
  return async () => {
    await Promise.all([postgres?.remove(), server?.stop()]);
  };
}

/** Looks for tests that use it, so that `vitest run src/layout` doesn't wait for a database. */
function isUsed(project: TestProject, code: string): boolean {
  const files = project.vitest.state.getPaths();
  return files.length === 0 || files.some((file) => readFileSync(file, 'utf8').includes(code));
}
