// The clock of the machine jumps, forwards and back, under load. Needs libfaketime.

import { writeFileSync } from 'node:fs';
import { mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { closedLoad } from '../load.ts';
import { smallForm } from '../payloads.ts';
import type { Scenario } from '../world.ts';

/** One after the other, from the true time. */
const JUMPS = ['+1h', '-1h', '+3d', '-2d', '+0'];

export const clock: Scenario = {
  name: 'clock',
  light: true,
  about: `the clock jumps to ${JUMPS.join(', ')} under load`,
  run: async (world) => {
    const library = findLibrary();
    if (library === undefined) return world.skip('needs libfaketime');
    const folder = mkdtempSync(path.join(tmpdir(), 'storybar-prove-clock-'));
    const file = path.join(folder, 'offset');
    writeFileSync(file, '+0');
    try {
      const body = await smallForm();
      const settings = {
        LD_PRELOAD: library,
        FAKETIME_TIMESTAMP_FILE: file,
        FAKETIME_NO_CACHE: '1',
        FAKETIME_DONT_FAKE_MONOTONIC: '1',
        STORYBAR_LOG_LEVEL: 'warn',
      };
      await world.on({ settings }, async ({ subject, ask }) => {
        const send = async () => await ask({ key: subject.key, body });
        for (const jump of JUMPS) {
          writeFileSync(file, jump);
          const { answers } = await closedLoad(3, world.choose(1, 10), send);
          const served = answers.filter(({ status }) => status === 200).length;
          world.atLeast(`served at ${jump} (of ${answers.length})`, served / answers.length, 1);
        }
      });
    } finally {
      rmSync(folder, { recursive: true, force: true });
    }
  },
};

function findLibrary(): string | undefined {
  for (const folder of [
    '/usr/lib/x86_64-linux-gnu/faketime',
    '/usr/lib/aarch64-linux-gnu/faketime',
    '/usr/lib/faketime',
  ]) {
    try {
      const name = readdirSync(folder).find((file) => file.startsWith('libfaketimeMT.so'));
      if (name !== undefined) return path.join(folder, name);
    } catch {
      // Not on this system; another folder, or none.
    }
  }
  return undefined;
}
