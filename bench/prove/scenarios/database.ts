// Another process keeps the database to itself: for a moment, in which callers wait, and for longer, in which they are told.

import path from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import Database from 'libsql';
import { milliseconds, quantile } from '../figures.ts';
import { closedLoad, type Loaded } from '../load.ts';
import { smallForm } from '../payloads.ts';
import type { Scenario } from '../world.ts';

const SHORT_MS = 1_500;
/** More than the server waits for a lock. */
const LONG_MS = 7_000;

export const database: Scenario = {
  name: 'database',
  light: true,
  about: 'the database locked by another process, for a moment and for longer',
  run: async (world) => {
    const body = await smallForm();
    await world.on({ settings: { STORYBAR_LOG_LEVEL: 'warn' } }, async ({ subject, ask }) => {
      const send = async () => await ask({ key: subject.key, body });
      const lockFor = async (ms: number): Promise<void> => {
        const other = new Database(path.join(subject.dataDirectory, 'storybar.db'));
        other.exec('pragma busy_timeout = 5000; begin immediate');
        await wait(ms);
        other.exec('rollback');
        other.close();
      };
      const during = async (ms: number): Promise<Loaded> => {
        const lock = wait(300).then(async () => await lockFor(ms));
        const loaded = await closedLoad(4, ms / 1_000 + 1, send);
        await lock;
        return loaded;
      };
      world.atLeast(`served, locked for ${SHORT_MS} ms`, servedPart(await during(SHORT_MS)), 1);
      const long = await during(LONG_MS);
      const slowest = milliseconds(
        quantile(
          long.answers.map(({ ms }) => ms),
          1,
        ),
      );
      world.figure(`served, locked for ${LONG_MS} ms`, `${(servedPart(long) * 100).toFixed(0)} %, slowest ${slowest}`);
      world.atLeast('served after it', servedPart(await closedLoad(4, 2, send)), 1);
    });
  },
};

function servedPart({ answers }: Loaded): number {
  return answers.filter(({ status }) => status === 200).length / answers.length;
}
