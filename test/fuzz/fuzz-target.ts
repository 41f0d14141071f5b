// Fuzzes one target in this process, which `run.ts` starts with instrumented modules.

import { createHash } from 'node:crypto';
import { mkdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { Worker } from 'node:worker_threads';
import { must } from '../../src/shared/must.ts';
import { corpusOf } from './corpus.ts';
import { type FuzzResult, fuzz } from './fuzzer.ts';
import { isTargetName, loadTarget } from './targets.ts';

const MAX_BYTES = 8_192;
/** Parsers of a few kilobytes take milliseconds, and counting branches makes them slower. */
const MAX_CPU_MS = 1_000;
/** Of wall time, for inputs that never end. */
const MAX_INPUT_MS = 20_000;

const [name = '', seconds = '10', seed = '1'] = process.argv.slice(2);
if (!isTargetName(name)) throw new Error(`unknown target: ${name}`);

const folder = path.resolve('out/fuzz', name);
mkdirSync(folder, { recursive: true });
const findingFile = (input: Uint8Array): string => path.join(folder, `finding-${hashOf(input)}`);

const shared = new SharedArrayBuffer(8 + MAX_BYTES);
const [runs, length, current] = [
  new Int32Array(shared, 0, 1),
  new Int32Array(shared, 4, 1),
  new Uint8Array(shared, 8, MAX_BYTES),
];
new Worker(new URL('watchdog.js', import.meta.url), {
  workerData: { shared, maxMs: MAX_INPUT_MS, file: path.join(folder, 'finding-slow') },
  execArgv: [],
}).unref();

const target = await loadTarget(name);
const ends = Date.now() + Number(seconds) * 1_000;
const result = await fuzz(target, {
  seed: Number(seed),
  corpus: [...corpusOf(name), ...corpusOf(name, 'out/fuzz')].map(({ bytes }) => bytes),
  maxBytes: MAX_BYTES,
  maxCpuMs: MAX_CPU_MS,
  shouldStop: () => Date.now() >= ends,
  onInput: (input) => {
    current.set(input.subarray(0, MAX_BYTES));
    Atomics.store(length, 0, Math.min(MAX_BYTES, input.length));
    Atomics.add(runs, 0, 1);
  },
  onNew: (input) => writeFileSync(path.join(folder, hashOf(input)), input),
});
report(result);

function report({ runs: count, kept, branches, finding }: FuzzResult): void {
  console.log(`${name}: ${count} inputs, ${branches} branches, ${kept} inputs kept`);
  if (finding === undefined) return;
  const file = findingFile(must(finding.input, 'the input'));
  writeFileSync(file, finding.input);
  console.error(finding.error);
  console.error(
    `The input is in ${path.relative('.', file)}. Fix the cause, then move it to test/fuzz/corpus/${name}.`,
  );
  process.exitCode = 1;
}

function hashOf(bytes: Uint8Array): string {
  return createHash('sha256').update(bytes).digest('hex').slice(0, 16);
}
