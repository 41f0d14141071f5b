// `npm run prove`: runs the real server under load, attacks and faults, and checks its invariants. Client, server and
// workers share the machine, so ratios to the measured capacity mean more than absolute figures.

import { cpus, loadavg } from 'node:os';
import { parseArgs } from 'node:util';
import { Figures } from './figures.ts';
import { SCENARIOS } from './scenarios.ts';
import { type Profile, type Scenario, World } from './world.ts';

const HELP = `Usage: npm run prove -- [--long] [--only NAME]... [--seed N] [--soak MINUTES] [--lenient]
  --long     run with many more files, kills and seconds
  --only     run only this scenario; repeatable
  --seed     seed for arrivals, kills and mutations; a run with the same seed repeats them (default: 1)
  --soak     run only the soak scenario for this many minutes, and measure memory growth
  --lenient  fail on violated invariants only, not on missed targets, which depend on the machine
`;

async function main(): Promise<void> {
  const { values } = parseArgs({
    options: {
      long: { type: 'boolean', default: false },
      only: { type: 'string', multiple: true, default: [] },
      seed: { type: 'string', default: '1' },
      soak: { type: 'string' },
      lenient: { type: 'boolean', default: false },
      help: { type: 'boolean', short: 'h', default: false },
    },
  });
  if (values.help) {
    const list = SCENARIOS.map(({ name, about }) => `  ${name.padEnd(14)}${about}`);
    return console.log(`${HELP}\nScenarios:\n${list.join('\n')}`);
  }
  const soakMinutes = Number(values.soak ?? 0);
  const profile: Profile = { long: values.long, seed: Number(values.seed), soakMinutes };
  if (!Number.isInteger(profile.seed) || !(soakMinutes >= 0))
    throw new Error('--seed must be an integer and --soak a number of minutes');
  const figures = new Figures();
  const started = performance.now();
  console.log(`Node.js ${process.version} on ${cpus().length} x ${cpus()[0]?.model ?? 'unknown CPU'},`);
  console.log('shared by client, server and workers.');
  console.log(`Load average at the start: ${loadAverage()}. Seed: ${profile.seed}.\n`);
  const scenarios = selectScenarios(values.only, soakMinutes > 0);
  for (const scenario of scenarios.filter(({ parallel }) => !parallel)) await runScenario(scenario, profile, figures);
  const parallel = scenarios.filter((scenario) => scenario.parallel);
  await Promise.all(parallel.map(async (scenario) => await runScenario(scenario, profile, figures)));
  console.log(`\n${figures.format()}`);
  const seconds = ((performance.now() - started) / 1e3).toFixed(0);
  console.log(`Took ${seconds} s. Load average at the end: ${loadAverage()}.`);
  if (values.lenient ? figures.hasViolations : figures.failed) process.exitCode = 1;
}

function loadAverage(): string {
  return (loadavg()[0] ?? Number.NaN).toFixed(1);
}

/** The soak scenario takes long and runs alone, so only `--soak` or `--only soak` selects it. */
function selectScenarios(only: readonly string[], soak: boolean): readonly Scenario[] {
  if (soak) return SCENARIOS.filter(({ name }) => name === 'soak');
  const unknown = only.filter((name) => SCENARIOS.every((scenario) => scenario.name !== name));
  if (unknown.length > 0) throw new Error(`unknown scenario: ${unknown.join(', ')}; --help lists all`);
  return SCENARIOS.filter(({ name }) => (only.length === 0 ? name !== 'soak' : only.includes(name)));
}

async function runScenario(scenario: Scenario, profile: Profile, figures: Figures): Promise<void> {
  const started = performance.now();
  try {
    await scenario.run(new World(scenario.name, profile, figures));
  } catch (error) {
    figures.violation(scenario.name, error instanceof Error ? (error.stack ?? error.message) : String(error));
  }
  console.log(`${((performance.now() - started) / 1e3).toFixed(0).padStart(4)} s  ${scenario.name}: ${scenario.about}`);
}

await main();
