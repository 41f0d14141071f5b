// `npm run mutate -- pricing`: makes many small changes to the code of a part, one at a time, and counts the ones that a test
// notices.

import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { z } from 'zod';
import { PART_NAMES, partNamed } from './parts.ts';

const FOLDER = path.join('test', 'mutation');
const OUTPUT = path.join('out', 'mutation');
const STRYKER = path.join(FOLDER, 'node_modules', '@stryker-mutator', 'core', 'bin', 'stryker.js');
/** These tests don't crash the machine, so their databases may be in memory, where they are much faster. */
const TEMPORARY = existsSync('/dev/shm') ? '/dev/shm' : tmpdir();

/** A part of Stryker's report. */
const reportSchema = z.object({
  files: z.record(z.string(), z.object({ mutants: z.array(z.object({ status: z.string() })) })),
});

const names = process.argv.slice(2);
const unknown = names.filter((name) => !PART_NAMES.includes(name));
if (names.length === 0 || unknown.length > 0) {
  console.log(`usage: npm run mutate -- <part> ...\nparts: ${PART_NAMES.join(', ')}`);
  process.exit(2);
}
if (!existsSync(STRYKER)) install();
const rows = names.map(mutate);
console.log(
  ['| Part | Mutants | Killed | Not killed | Score |', '| --- | --- | --- | --- | --- |', ...rows].join('\n'),
);

/** Stryker has a folder of its own, so that `npm ci` doesn't install it. It uses the vitest of this package. */
function install(): void {
  const { status } = spawnSync('npm', ['ci', '--legacy-peer-deps', '--ignore-scripts'], {
    cwd: FOLDER,
    stdio: 'inherit',
  });
  if (status !== 0) throw new Error(`npm ci failed in ${FOLDER}`);
}

/** Returns a row of the table. */
function mutate(name: string): string {
  mkdirSync(OUTPUT, { recursive: true });
  const config = path.join(OUTPUT, `${name}.config.json`);
  const report = path.join(OUTPUT, `${name}.json`);
  writeFileSync(config, JSON.stringify(configOf(name, report)));
  const { status } = spawnSync(process.execPath, [STRYKER, 'run', config], {
    stdio: 'inherit',
    env: { ...process.env, MUTATED_PART: name, TMPDIR: TEMPORARY },
  });
  if (status !== 0) throw new Error(`Stryker failed with exit code ${status}`);
  const { files } = reportSchema.parse(JSON.parse(readFileSync(report, 'utf8')));
  const statuses = Object.values(files).flatMap(({ mutants }) => mutants.map((mutant) => mutant.status));
  const count = (...counted: string[]): number => statuses.filter((each) => counted.includes(each)).length;
  // A mutant that makes a test run forever is noticed, too.
  const killed = count('Killed', 'Timeout');
  const others = count('Survived', 'NoCoverage');
  const all = killed + others;
  return `| ${name} | ${all} | ${killed} | ${others} | ${((100 * killed) / all).toFixed(1)} % |`;
}

function configOf(name: string, report: string): object {
  return {
    mutate: partNamed(name).files,
    testRunner: 'vitest',
    vitest: { configFile: path.join(FOLDER, 'vitest.config.ts'), related: false },
    plugins: ['@stryker-mutator/vitest-runner', path.resolve(FOLDER, 'ignore-messages.js')],
    ignorers: ['messages'],
    coverageAnalysis: 'perTest',
    concurrency: 1,
    // A mutant that hangs keeps the others waiting.
    timeoutMS: 10_000,
    timeoutFactor: 2,
    tsconfigFile: 'none',
    disableTypeChecks: false,
    tempDirName: path.join(OUTPUT, 'sandbox'),
    // The tests need neither these folders nor their time to be copied.
    ignorePatterns: ['/assembly', '/bench', '/clients', '/deploy', '/dist', '/docs', '/examples', '/out', '/test/fuzz'],
    reporters: ['json', 'clear-text', 'progress-append-only'],
    clearTextReporter: { allowColor: false, logTests: false, reportTests: false },
    jsonReporter: { fileName: report },
  };
}
