// Loads one module of the program with the bug that `SIMULATED_BUG` names. It registers itself as a module hook, after that of tsx.

import { readFileSync } from 'node:fs';
import { register } from 'node:module';
import { fileURLToPath } from 'node:url';
import { isMainThread } from 'node:worker_threads';
import ts from 'typescript-5';
import { BUGS } from './bugs.js';

const bug = BUGS[process.env['SIMULATED_BUG'] ?? ''];

if (isMainThread && bug !== undefined) register('./plant-bug.js', import.meta.url);

/** Called by Node.js for each module. */
export async function load(url, context, nextLoad) {
  const loaded = await nextLoad(url, context);
  if (!url.split('?')[0].endsWith(bug.file)) return loaded;
  const source = readFileSync(fileURLToPath(url), 'utf8');
  if (!source.includes(bug.find)) throw new Error(`${bug.file} has changed, so the bug can't be put in`);
  const compilerOptions = { target: ts.ScriptTarget.ESNext, module: ts.ModuleKind.ESNext };
  return {
    ...loaded,
    source: ts.transpileModule(
      source.replace(bug.find, () => bug.replace),
      { compilerOptions },
    ).outputText,
  };
}
