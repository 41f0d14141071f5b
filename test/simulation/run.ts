// `npm run simulate`: simulations from many seeds, until the time is over or one fails.

import { fork, spawnSync } from 'node:child_process';
import { availableParallelism } from 'node:os';
import { parseArgs } from 'node:util';
import { nextMessage } from '../next-message.ts';
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
    // Set by the process that shares the seeds.
    step: { type: 'string' },
    only: { type: 'boolean', default: false },
    bug: { type: 'string' },
    'every-call': { type: 'boolean', default: false },
    help: { type: 'boolean', default: false },
  },
});

interface Totals {
  readonly seeds: number;
  readonly crashes: number;
  readonly renders: number;
  readonly simulatedSeconds: number;
}

/** What a process found: the totals of its seeds, or the history of the one that failed. */
type Report = { readonly totals: Totals; readonly digest: string } | { readonly failure: string };

const NOTHING: Totals = { seeds: 0, crashes: 0, renders: 0, simulatedSeconds: 0 };

const started = process.hrtime.bigint();
const elapsed = (): number => Number(process.hrtime.bigint() - started) / 1e9;

/** Runs every seed from the first one on, or one of `step` when several processes share them. */
async function runSeeds(first: number, step: number): Promise<Report> {
  let totals = NOTHING;
  let digest = '';
  for (let seed = first; totals.seeds === 0 || (!values.only && elapsed() < Number(values.seconds)); seed += step) {
    const result = await simulate(seed).catch((error: unknown) => {
      throw new Error(`seed ${seed} failed; ${repeatOf(seed)}`, { cause: error });
    });
    if (result.violations.length > 0) return { failure: failureOf(seed, result) };
    digest = result.digest;
    totals = sum(totals, { seeds: 1, ...result });
  }
  return { totals, digest };
}

function sum(a: Totals, b: Totals): Totals {
  return {
    seeds: a.seeds + b.seeds,
    crashes: a.crashes + b.crashes,
    renders: a.renders + b.renders,
    simulatedSeconds: a.simulatedSeconds + b.simulatedSeconds,
  };
}

function failureOf(seed: number, { violations, history }: Awaited<ReturnType<typeof simulate>>): string {
  const [first, ...others] = violations.map(({ rule, detail }) => ({ rule, detail }));
  return [
    `seed ${seed} violates: ${first?.rule}\n  ${first?.detail}\n\n${history}\n`,
    ...others.slice(0, 9).map(({ rule, detail }) => `also: ${rule}: ${detail}`),
    repeatOf(seed),
  ].join('\n');
}

function repeatOf(seed: number): string {
  const bug = process.env['SIMULATED_BUG'];
  return `repeat with: npm run simulate -- --seed ${seed} --only${bug === undefined ? '' : ` --bug ${bug}`}`;
}

/** The seeds are shared by as many processes as there are processors. The first failure ends all of them. */
async function run(): Promise<number> {
  const first = Number(values.seed);
  const report = values.only ? await runSeeds(first, 1) : await runInProcesses(first, availableParallelism());
  if ('failure' in report) {
    console.log(report.failure);
    return 1;
  }
  if (values.only) console.log(`history of seed ${first}: ${report.digest}`);
  const { seeds, crashes, renders, simulatedSeconds } = report.totals;
  const hours = (simulatedSeconds / 3_600).toFixed(1);
  console.log(
    `${seeds} seeds, ${crashes} crashes, ${renders} renders, ${hours} simulated hours in ${elapsed().toFixed(0)} s: all rules hold`,
  );
  return 0;
}

async function runInProcesses(first: number, count: number): Promise<Report> {
  const children = Array.from({ length: count }, (_, index) => {
    const options = ['--seconds', values.seconds, '--seed', String(first + index), '--step', String(count)];
    return fork(import.meta.filename, options);
  });
  const totals = children.map(async (child) => {
    const report = await nextMessage<Report>(child);
    if ('failure' in report) throw new RuleViolated(report.failure);
    return report.totals;
  });
  try {
    return { totals: (await Promise.all(totals)).reduce(sum, NOTHING), digest: '' };
  } catch (error) {
    if (error instanceof RuleViolated) return { failure: error.message };
    throw error;
  } finally {
    for (const child of children) child.kill();
  }
}

class RuleViolated extends Error {}

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

/** Runs the seeds of one process, and ends when the process that shares them is gone. */
async function runShare(step: number): Promise<void> {
  if (process.send === undefined) throw new Error('--step is only for processes that share their seeds');
  process.once('disconnect', () => process.exit(1));
  process.send(await runSeeds(Number(values.seed), step));
}

if (!(Number(values.seconds) > 0) || !Number.isSafeInteger(Number(values.seed))) {
  throw new Error('--seconds must be a number above 0, and --seed a whole number');
}
if (values['every-call'] && values.bug !== undefined) throw new Error("--every-call and --bug can't be combined");
if (values.help) console.log(USAGE);
else if (values.step !== undefined) await runShare(Number(values.step));
else if (values['every-call']) process.exitCode = await failEveryCall();
else process.exitCode = values.bug === undefined ? await run() : runWithBug(values.bug);
