// The disk fills up under load and is emptied again. The scenario needs root, to mount a small tmpfs.

import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync, statfsSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { closedLoad, type LoadResult, served, servedShare } from '../load.ts';
import { smallForm } from '../payloads.ts';
import type { Scenario } from '../world.ts';

const DISK_SIZE = 'size=330m';
const PHASE_SECONDS = 3;

export const fullDisk: Scenario = {
  name: 'full-disk',
  parallel: true,
  about: 'the data directory fills up to the last byte under load and is emptied again',
  run: async (world) => {
    const mountPoint = mkdtempSync(path.join(tmpdir(), 'storybar-prove-disk-'));
    try {
      execFileSync('mount', ['-t', 'tmpfs', '-o', DISK_SIZE, 'tmpfs', mountPoint], { stdio: 'ignore' });
    } catch {
      rmSync(mountPoint, { recursive: true });
      return world.skip('mounting a tmpfs needs root');
    }
    try {
      const body = await smallForm();
      const options = {
        settings: { STORYBAR_LOG_LEVEL: 'warn' },
        dataDirectory: path.join(mountPoint, 'data'),
      };
      await world.withServer(options, async ({ subject, request }) => {
        const send = async () => await request({ key: subject.key, body });
        const before = await closedLoad(4, PHASE_SECONDS, send);
        const filling = wait(PHASE_SECONDS * 200).then(() => fill(mountPoint));
        const full = await closedLoad(4, PHASE_SECONDS, send);
        const freeBytes = await filling;
        rmSync(path.join(mountPoint, 'filler'));
        // The server checks its free disk space once a second.
        await wait(1_500);
        const after = await closedLoad(4, PHASE_SECONDS, send);
        world.figure('served before, while full, after', [before, full, after].map(count).join(', '));
        world.figure('free bytes when full', String(freeBytes));
        const refused = after.responses.filter(({ status }) => status !== 200).map(({ code }) => code);
        const codes = refused.length > 0 ? ` (${refused.join(' ')})` : '';
        world.atLeast(`served afterwards${codes}`, servedShare(after.responses), 1);
      });
    } finally {
      execFileSync('umount', ['-l', mountPoint]);
      rmSync(mountPoint, { recursive: true, force: true });
    }
  },
};

/** Fills the disk to the last block and returns the bytes that are still free. */
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

const count = ({ responses }: LoadResult): string => `${served(responses).length} of ${responses.length}`;
