// Generates the types of the TypeScript client from the same OpenAPI document that the server publishes.

import { execFileSync } from 'node:child_process';
import { generateOpenApi } from './generate-docs.ts';

/** The generator needs TypeScript 5, which the preloaded module puts in the place of TypeScript 7. */
const COMMAND = [
  '--import',
  './test/pages/generated-clients/typescript-5.js',
  'node_modules/openapi-typescript/bin/cli.js',
];

export function generateClientTypes(): string {
  return execFileSync(process.execPath, COMMAND, { input: generateOpenApi(), encoding: 'utf8' });
}
