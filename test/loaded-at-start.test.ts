// Packages that a process loads when it starts. Each library costs startup time and memory, and a decoder in the API
// server would bring its vulnerabilities out of the sandbox.

import { readFileSync } from 'node:fs';
import path from 'node:path';
import { expect, it } from 'vitest';

const SOURCE = path.resolve(import.meta.dirname, '../src');
/** Matches neither `import type`, which the compiler removes, nor `import()`, which loads on demand. */
const STATIC_IMPORT = /^(?:import|export)\s(?!type\s)(?:[^;']*?\sfrom\s)?'(?<target>[^']+)'/gmu;

/** The packages that an entry point loads before it does anything, each with one of the files that import it. */
function packagesOf(entry: string): Map<string, string> {
  const packages = new Map<string, string>();
  const seen = new Set<string>();
  const visit = (file: string): void => {
    if (seen.has(file)) return;
    seen.add(file);
    for (const { groups } of readFileSync(path.join(SOURCE, file), 'utf8').matchAll(STATIC_IMPORT)) {
      const target = groups?.['target'] ?? '';
      if (target.startsWith('.')) visit(path.posix.join(path.posix.dirname(file), target));
      else if (!target.startsWith('node:')) packages.set(target, file);
    }
  };
  visit(entry);
  return packages;
}

const names = (entry: string): string[] => [...packagesOf(entry).keys()].toSorted();

it('a program that imports the library loads no package of the service', () => {
  const service = new Set([
    'fastify',
    'libsql',
    'pg',
    'stripe',
    'nodemailer',
    'pino',
    '@nats-io/transport-node',
    '@node-rs/argon2',
  ]);
  expect(names('engine/index.ts').filter((name) => service.has(name))).toEqual([]);
});

it('an API server loads no decoder, and no client of a database, queue or payment provider that it may not use', () => {
  expect(names('cli/serve-command.ts')).toEqual([
    '@fastify/busboy',
    '@node-rs/argon2',
    'fastify',
    'libsql',
    'nodemailer',
    'pino',
    'prom-client',
    'uqr',
    'zod',
  ]);
});

it('a command that reads the database loads only the driver of the embedded database', () => {
  expect(names('cli/accounts-command.ts')).toEqual(['libsql']);
});

it('a render worker loads no video libraries before it knows that it renders videos', () => {
  expect(names('main/worker.ts')).toEqual(['@cto.af/linebreak', '@napi-rs/canvas', 'bidi-js', 'sharp']);
});
