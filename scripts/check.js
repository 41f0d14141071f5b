// Runs the checks of `npm run check` two at a time and prints the output of those that fail.

import { exec } from 'node:child_process';
import { promisify } from 'node:util';

/** The scripts of package.json, slowest first. */
const CHECKS = ['generate:check', 'typecheck', 'lint', 'deadcode', 'lint:workflows', 'format:check'];
const MAX_OUTPUT_BYTES = 64 * 1024 ** 2;

const run = promisify(exec);
const waiting = [...CHECKS];

async function runChecks() {
  for (let name = waiting.shift(); name !== undefined; name = waiting.shift()) {
    try {
      await run(`npm run --silent ${name}`, { maxBuffer: MAX_OUTPUT_BYTES });
      console.log(`ok: ${name}`);
    } catch (error) {
      console.error(`failed: ${name}\n${error.stdout}${error.stderr}`);
      process.exitCode = 1;
    }
  }
}

await Promise.all([runChecks(), runChecks()]);
