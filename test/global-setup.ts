// Started once for all test files of a run.

import { readFileSync } from 'node:fs';
import type { TestProject } from 'vitest/node';
import { createPostgres } from './postgres-server.ts';

declare module 'vitest' {
  interface ProvidedContext {
    /** Empty where there is no PostgreSQL. */
    postgresUrl: string;
  }
}

export async function setup(project: TestProject): Promise<() => Promise<void>> {
  const given = process.env['STORYBAR_TEST_POSTGRES_URL'] ?? '';
  const server = given === '' && isWanted(project) ? await createPostgres() : undefined;
  project.provide('postgresUrl', server?.url ?? given);
  return async () => await server?.remove();
}

/** Whether a file of this run asks for it: `vitest run src/layout` need not wait for a database. */
function isWanted(project: TestProject): boolean {
  const files = project.vitest.state.getPaths();
  return files.length === 0 || files.some((file) => readFileSync(file, 'utf8').includes("inject('postgresUrl')"));
}
