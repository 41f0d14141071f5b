// `npm run simulate`: simulations from one seed after the other, until the time is over or one fails.

import { spawnSync } from 'node:child_process';
import { parseArgs } from 'node:util';
import { BUGS } from './bugs.js';
import { DriverFaults } from './driver-faults.ts';
import { simulate, simulateCalm } from './simulation.ts';

const USAGE = `usage: npm run simulate -- [--seconds 120] [--seed 1] [--only] [--bug name] [--every-call]

Runs the seeds from --seed on for --seconds, or only that one. With --every-call, each write to the database fails once instead. With --bug, the program has a bug that the simulation must find:
${Object.entries(BUGS)
  .map(([name, { what }]) => `  ${name.padEnd(18)}${what}`)
  .join('\n')}`;

const { values } = parseArgs({
  options: {
    seconds: { type: 'string', default: '120' },
    seed: { type: 'string', default: '1' },
    only: { type: 'boolean', default: false },
    bug: { type: 'string' },
    'every-call': { type: 'boolean', default: false },
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

/** Each call to the driver of the database fails once, with each code. */
async function failEveryCall(): Promise<number> {
  const counted = new DriverFaults(0, '');
  const [undisturbed] = (await simulateCalm(counted)).violations;
  if (undisturbed !== undefined) throw new Error(`without faults: ${undisturbed.detail}`);
  for (const code of ['SQLITE_FULL', 'SQLITE_IOERR']) {
    for (let number = 1; number <= counted.calls.length; number += 1) {
      const { violations, history } = await simulateCalm(new DriverFaults(number, code));
      const [first] = violations;
      if (first === undefined) continue;
      console.log(
        `${code} at call ${number} (${counted.calls[number - 1]}) violates: ${first.rule}\n  ${first.detail}\n\n${history}`,
      );
      return 1;
    }
  }
  console.log(`${counted.calls.length} calls to the database failed once with each of 2 codes: all rules hold`);
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
else if (values['every-call']) process.exitCode = await failEveryCall();
else process.exitCode = values.bug === undefined ? await run() : runWithBug(values.bug);
