// The server is killed under load and started again on the same data.

import { setTimeout as wait } from 'node:timers/promises';
import { until } from '../../../test/running-server.ts';
import { smallForm } from '../payloads.ts';
import { isAlive } from '../processes.ts';
import type { Scenario } from '../world.ts';

const CLIENTS = 8;

export const serverKills: Scenario = {
  name: 'server-kills',
  about: 'kill -9 under load, then a restart on the same data',
  run: async (world) => {
    const body = await smallForm();
    const rounds = world.choose(2, 30);
    await world.withServer({ settings: { STORYBAR_LOG_LEVEL: 'warn' } }, async ({ subject, request, journal }) => {
      let orphans = 0;
      for (let round = 0; round < rounds; round += 1) {
        const stop = new AbortController();
        const client = async (): Promise<void> => {
          while (!stop.signal.aborted) await request({ key: subject.key, body });
        };
        const before = journal.delivered.size;
        const workers = subject.workers();
        const clients = Array.from({ length: CLIENTS }, client);
        await until(() => journal.delivered.size > before + 8, 60_000);
        await wait(world.random.whole(200));
        stop.abort();
        await subject.kill();
        await Promise.all(clients);
        await wait(500);
        orphans += workers.filter(isAlive).length;
        await subject.launch();
      }
      world.figure('server kills', `${rounds}, ${journal.delivered.size} deliveries`);
      world.none('orphaned workers', orphans);
      return { uncharged: rounds * CLIENTS };
    });
  },
};
