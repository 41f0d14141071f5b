// The system clock jumps forward and back under load. Needs libfaketime.

import { mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { closedLoad, servedShare } from '../load.ts';
import { smallForm } from '../payloads.ts';
import type { Scenario } from '../world.ts';

/** Offsets from the true time, applied one after the other. */
const JUMPS = ['+1h', '-1h', '+3d', '-2d', '+0'];

export const clock: Scenario = {
  name: 'clock',
  parallel: true,
  about: `the system clock jumps by ${JUMPS.join(', ')} under load`,
  run: async (world) => {
    const library = findLibrary();
    if (library === undefined) return world.skip('libfaketime is not installed');
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
      await world.withServer({ settings }, async ({ subject, request }) => {
        const send = async () => await request({ key: subject.key, body });
        for (const jump of JUMPS) {
          writeFileSync(file, jump);
          const { responses } = await closedLoad(3, world.choose(1, 10), send);
          world.atLeast(`served at ${jump} (of ${responses.length})`, servedShare(responses), 1);
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
      // The folder doesn't exist on this system.
    }
  }
  return undefined;
}
