// The simulation finds each bug that is put in on purpose, and a seed can be repeated.

import { execFile } from 'node:child_process';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { BUGS } from './bugs.js';

const RUN = path.join(import.meta.dirname, 'run.ts');

async function run(...options: string[]): Promise<{ readonly status: number | null; readonly output: string }> {
  return await new Promise((resolve) => {
    const child = execFile(
      process.execPath,
      ['--import', 'tsx', RUN, ...options],
      { maxBuffer: 100_000_000 },
      (_error, stdout, stderr) => resolve({ status: child.exitCode, output: stdout + stderr }),
    );
  });
}

describe('the simulation', () => {
  it('has the same history whenever a seed is repeated', async () => {
    const [one, other] = [await run('--only', '--seed', '5'), await run('--only', '--seed', '5')];
    expect(one).toMatchObject({ status: 0, output: expect.stringMatching(/history of seed 5: [\da-f]{64}/u) });
    const digestOf = ({ output }: typeof one): string | undefined => /[\da-f]{64}/u.exec(output)?.[0];
    expect(digestOf(other)).toBe(digestOf(one));
  });

  it.each(Object.keys(BUGS))('finds the bug %s and prints how it came about', async (bug) => {
    const { status, output } = await run('--bug', bug, '--seconds', '300');
    expect(output).toMatch(/seed \d+ violates: /u);
    expect(output).toMatch(/\d s {2}server-\d+ +commits: /u);
    expect(status).toBe(1);
  });
});
