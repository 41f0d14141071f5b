// `npm run fuzz`: fuzzes each target for a while, one process after the other.

import { spawnSync } from 'node:child_process';
import path from 'node:path';
import { parseArgs } from 'node:util';
import { isTargetName, TARGETS } from './targets.ts';

const USAGE = `usage: npm run fuzz -- [target ...] [--seconds 10] [--seed 1]

Each target runs for --seconds. Inputs that reach something new are kept in out/fuzz and used by later runs.
targets: ${TARGETS.join(', ')}`;

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    seconds: { type: 'string', default: '10' },
    seed: { type: 'string', default: '1' },
    help: { type: 'boolean' },
  },
});
const unknown = positionals.filter((name) => !isTargetName(name));
if (values.help === true || unknown.length > 0) {
  console.log(unknown.length > 0 ? `unknown target: ${unknown.join(', ')}\n${USAGE}` : USAGE);
  process.exit(unknown.length > 0 ? 2 : 0);
}

const imports = ['tsx', new URL('instrument.js', import.meta.url).href].flatMap((name) => ['--import', name]);
const failed = (positionals.length > 0 ? positionals : TARGETS).filter((name) => {
  const script = path.join(import.meta.dirname, 'fuzz-target.ts');
  const { status } = spawnSync(process.execPath, [...imports, script, name, values.seconds, values.seed], {
    stdio: 'inherit',
  });
  // The process was ended by its watchdog, or crashed. The same seed and corpus repeat it.
  if (status !== 0 && status !== 1)
    console.error(`${name}: the process ended unexpectedly; repeat with --seed ${values.seed}`);
  return status !== 0;
});
if (failed.length > 0) {
  console.error(`findings: ${failed.join(', ')}`);
  process.exitCode = 1;
}
