// Started once for all test files of a run.

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
  const server = given === '' ? await createPostgres() : undefined;
  project.provide('postgresUrl', server?.url ?? given);
  return async () => await server?.remove();
}
