// The command behind `npm start`, so that tests and benchmarks start the server the way operators do.

import { readFileSync } from 'node:fs';
import path from 'node:path';

const ROOT = path.resolve(import.meta.dirname, '..');
const { scripts } = JSON.parse(readFileSync(path.join(ROOT, 'package.json'), 'utf8')) as {
  scripts: Readonly<Record<'start', string>>;
};

/** Arguments for Node.js, valid in any working directory. The first key is printed, although there is no terminal. */
export const START_ARGUMENTS: readonly string[] = [
  ...scripts.start
    .split(' ')
    .slice(1)
    .map((argument) => (argument.endsWith('.js') ? path.join(ROOT, argument) : argument)),
  '--print-key',
];
