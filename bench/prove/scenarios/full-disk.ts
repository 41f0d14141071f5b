// A disk that fills up under load and is emptied again. Needs the right to mount a small disk in memory.

import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync, statfsSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { closedLoad, type Loaded } from '../load.ts';
import { smallForm } from '../payloads.ts';
import type { Scenario } from '../world.ts';

const DISK = 'size=330m';
const PHASE_SECONDS = 3;

export const fullDisk: Scenario = {
  name: 'full-disk',
  light: true,
  about: 'the data directory fills up under load, to the last byte, and is emptied again',
  run: async (world) => {
    const mountPoint = mkdtempSync(path.join(tmpdir(), 'storybar-prove-disk-'));
    try {
      execFileSync('mount', ['-t', 'tmpfs', '-o', DISK, 'tmpfs', mountPoint], { stdio: 'ignore' });
    } catch {
      rmSync(mountPoint, { recursive: true });
      return world.skip('needs the right to mount (root)');
    }
    try {
      const body = await smallForm();
      const settings = { STORYBAR_LOG_LEVEL: 'warn' };
      await world.on({ settings, dataDirectory: path.join(mountPoint, 'data') }, async ({ subject, ask }) => {
        const send = async () => await ask({ key: subject.key, body });
        const before = await closedLoad(4, PHASE_SECONDS, send);
        const filling = wait(PHASE_SECONDS * 200).then(() => fill(mountPoint));
        const full = await closedLoad(4, PHASE_SECONDS, send);
        const left = await filling;
        rmSync(path.join(mountPoint, 'filler'));
        // The server looks at its disk once a second.
        await wait(1_500);
        const after = await closedLoad(4, PHASE_SECONDS, send);
        world.figure('served before, full, after', [before, full, after].map(count).join(', '));
        world.figure('bytes left when full', String(left));
        const refused = after.answers.filter(({ status }) => status !== 200).map(({ code }) => code);
        world.atLeast(`served after it${refused.length > 0 ? ` (${refused.join(' ')})` : ''}`, part(after), 1);
      });
    } finally {
      execFileSync('umount', ['-l', mountPoint]);
      rmSync(mountPoint, { recursive: true, force: true });
    }
  },
};

/** To the last block. */
function fill(mountPoint: string): number {
  const file = path.join(mountPoint, 'filler');
  writeFileSync(file, '');
  for (const size of [16 << 20, 1 << 20, 4_096]) {
    const block = Buffer.alloc(size);
    try {
      for (;;) writeFileSync(file, block, { flag: 'a' });
    } catch (error) {
      if (!(error instanceof Error && 'code' in error && error.code === 'ENOSPC')) throw error;
    }
  }
  const { bavail, bsize } = statfsSync(mountPoint);
  return bavail * bsize;
}

const delivered = ({ answers }: Loaded): number => answers.filter(({ status }) => status === 200).length;
const part = (loaded: Loaded): number => delivered(loaded) / loaded.answers.length;
const count = (loaded: Loaded): string => `${delivered(loaded)} of ${loaded.answers.length}`;
