// `npm run prove`: the real server under load, attack and faults, and what must be true all the same. Client, server and
// workers share one machine; capacity is measured by the same client, so read the ratios.

import { cpus, loadavg } from 'node:os';
import { parseArgs } from 'node:util';
import { Figures } from './figures.ts';
import { SCENARIOS } from './scenarios.ts';
import { type Profile, type Scenario, World } from './world.ts';

const HELP = `npm run prove -- [--long] [--only NAME]... [--seed N] [--soak MINUTES] [--lenient]
  --long    many more files, kills and seconds
  --only    these scenarios alone
  --seed    the same arrivals, kills and mutations again (1)
  --soak    steady load for so long, and how memory grows
  --lenient only what must never happen fails; targets, which depend on the machine, are shown
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
    return console.log(`${HELP}\nscenarios:\n${list.join('\n')}`);
  }
  const soakMinutes = Number(values.soak ?? 0);
  const profile: Profile = { long: values.long, seed: Number(values.seed), soakMinutes };
  if (!Number.isInteger(profile.seed) || !(soakMinutes >= 0)) throw new Error('--seed and --soak take numbers');
  const figures = new Figures();
  const started = performance.now();
  console.log(`Node ${process.version}, ${cpus().length} x ${cpus()[0]?.model ?? 'unknown'}, shared by client, server`);
  console.log(`and workers; load average ${loadavg()[0]?.toFixed(1)} at the start; seed ${profile.seed}\n`);
  const scenarios = chosen(values.only, soakMinutes > 0);
  for (const scenario of scenarios.filter(({ light }) => !light)) await play(scenario, profile, figures);
  const light = scenarios.filter((scenario) => scenario.light);
  await Promise.all(light.map(async (scenario) => await play(scenario, profile, figures)));
  console.log(`\n${figures.format()}`);
  const seconds = ((performance.now() - started) / 1e3).toFixed(0);
  console.log(`${seconds} s in all; load average ${loadavg()[0]?.toFixed(1)} at the end`);
  if (values.lenient ? figures.broken : figures.failed) process.exitCode = 1;
}

/** Soaking takes its time, and is done alone. */
function chosen(only: readonly string[], soak: boolean): readonly Scenario[] {
  if (soak) return SCENARIOS.filter(({ name }) => name === 'soak');
  const unknown = only.filter((name) => SCENARIOS.every((scenario) => scenario.name !== name));
  if (unknown.length > 0) throw new Error(`no such scenario: ${unknown.join(', ')}`);
  return SCENARIOS.filter(({ name }) => (only.length === 0 ? name !== 'soak' : only.includes(name)));
}

async function play(scenario: Scenario, profile: Profile, figures: Figures): Promise<void> {
  const started = performance.now();
  try {
    await scenario.run(new World(scenario.name, profile, figures));
  } catch (error) {
    figures.fault(scenario.name, error instanceof Error ? (error.stack ?? error.message) : String(error));
  }
  console.log(`${((performance.now() - started) / 1e3).toFixed(0).padStart(4)} s  ${scenario.name}: ${scenario.about}`);
}

await main();
