// What `npm start` runs, so that tests and proofs start the server as everybody does.

import { readFileSync } from 'node:fs';
import path from 'node:path';

const ROOT = path.resolve(import.meta.dirname, '..');
const { scripts } = JSON.parse(readFileSync(path.join(ROOT, 'package.json'), 'utf8')) as {
  scripts: Readonly<Record<'start', string>>;
};

/** Arguments for Node, from any directory. */
export const START_ARGUMENTS: readonly string[] = scripts.start
  .split(' ')
  .slice(1)
  .map((argument) => (argument.endsWith('.js') ? path.join(ROOT, argument) : argument));
