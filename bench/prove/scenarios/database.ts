// Another process locks the database: first briefly, so that requests wait, then for longer than requests wait.

import path from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import Database from 'libsql';
import { closedLoad, latency, type LoadResult, servedShare } from '../load.ts';
import { smallForm } from '../payloads.ts';
import type { Scenario } from '../world.ts';

const SHORT_LOCK_MS = 1_500;
/** Longer than the server waits for a lock. */
const LONG_LOCK_MS = 7_000;

export const database: Scenario = {
  name: 'database',
  parallel: true,
  about: 'another process locks the database, briefly and for longer',
  run: async (world) => {
    const body = await smallForm();
    await world.withServer({ settings: { STORYBAR_LOG_LEVEL: 'warn' } }, async ({ subject, request }) => {
      const send = async () => await request({ key: subject.key, body });
      const lockFor = async (ms: number): Promise<void> => {
        const other = new Database(path.join(subject.dataDirectory, 'storybar.db'));
        other.exec('pragma busy_timeout = 5000; begin immediate');
        await wait(ms);
        other.exec('rollback');
        other.close();
      };
      const loadDuringLock = async (ms: number): Promise<LoadResult> => {
        const lock = wait(300).then(async () => await lockFor(ms));
        const result = await closedLoad(4, ms / 1_000 + 1, send);
        await lock;
        return result;
      };
      const short = await loadDuringLock(SHORT_LOCK_MS);
      world.atLeast(`served, locked for ${SHORT_LOCK_MS} ms`, servedShare(short.responses), 1);
      const { responses } = await loadDuringLock(LONG_LOCK_MS);
      const share = (servedShare(responses) * 100).toFixed(0);
      world.figure(`served, locked for ${LONG_LOCK_MS} ms`, `${share} %, slowest ${latency(responses, 1)}`);
      const after = await closedLoad(4, 2, send);
      world.atLeast('served afterwards', servedShare(after.responses), 1);
    });
  },
};
