// `npm run simulate`: simulations from one seed after the other, until the time is over or one fails.

import { spawnSync } from 'node:child_process';
import { parseArgs } from 'node:util';
import { BUGS } from './bugs.js';
import { simulate } from './simulation.ts';

const USAGE = `usage: npm run simulate -- [--seconds 120] [--seed 1] [--only] [--bug name]

Runs the seeds from --seed on for --seconds, or only that one. With --bug, the program has a bug that the simulation must find:
${Object.entries(BUGS)
  .map(([name, { what }]) => `  ${name.padEnd(18)}${what}`)
  .join('\n')}`;

const { values } = parseArgs({
  options: {
    seconds: { type: 'string', default: '120' },
    seed: { type: 'string', default: '1' },
    only: { type: 'boolean', default: false },
    bug: { type: 'string' },
    help: { type: 'boolean', default: false },
  },
});

async function run(): Promise<number> {
  const started = process.hrtime.bigint();
  const elapsed = (): number => Number(process.hrtime.bigint() - started) / 1e9;
  let digest = '';
  const total = { seeds: 0, crashes: 0, renders: 0, simulatedSeconds: 0 };
  for (
    let seed = Number(values.seed);
    total.seeds === 0 || (!values.only && elapsed() < Number(values.seconds));
    seed += 1
  ) {
    const result = await simulate(seed);
    digest = result.digest;
    total.seeds += 1;
    total.crashes += result.crashes;
    total.renders += result.renders;
    total.simulatedSeconds += result.simulatedSeconds;
    const [first] = result.violations;
    if (first === undefined) continue;
    console.log(`seed ${seed} violates: ${first.rule}\n  ${first.detail}\n\n${result.history}\n`);
    for (const { rule, detail } of result.violations.slice(1, 10)) console.log(`also: ${rule}: ${detail}`);
    console.log(`repeat with: npm run simulate -- --seed ${seed} --only`);
    return 1;
  }
  if (values.only) console.log(`history of seed ${values.seed}: ${digest}`);
  const hours = (total.simulatedSeconds / 3_600).toFixed(1);
  console.log(
    `${total.seeds} seeds, ${total.crashes} crashes, ${total.renders} renders, ${hours} simulated hours in ${elapsed().toFixed(0)} s: all rules hold`,
  );
  return 0;
}

/** Modules are loaded with the bug in a process of their own. */
function runWithBug(name: string): number {
  if (!Object.hasOwn(BUGS, name)) throw new Error(`unknown bug: ${name}`);
  const options = ['--seconds', values.seconds, '--seed', values.seed, ...(values.only ? ['--only'] : [])];
  const imports = ['tsx', new URL('plant-bug.js', import.meta.url).href].flatMap((module) => ['--import', module]);
  const env = { ...process.env, SIMULATED_BUG: name };
  return (
    spawnSync(process.execPath, [...imports, import.meta.filename, ...options], { stdio: 'inherit', env }).status ?? 2
  );
}

if (values.help) console.log(USAGE);
else process.exitCode = values.bug === undefined ? await run() : runWithBug(values.bug);
