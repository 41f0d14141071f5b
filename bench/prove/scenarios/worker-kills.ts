// Workers that are killed under load, again and again. Callers must not notice.

import { until } from '../../../test/running-server.ts';
import { milliseconds, quantile } from '../figures.ts';
import { closedLoad, openLoad } from '../load.ts';
import { smallForm } from '../payloads.ts';
import type { Scenario, Stage, World } from '../world.ts';

const SERVED = 0.999;
const WORKERS = '3';

export const workerKills: Scenario = {
  name: 'worker-kills',
  about: 'workers killed under load; their callers are served all the same',
  run: async (world) => {
    const body = await smallForm();
    const settings = { STORYBAR_WORKERS: WORKERS, STORYBAR_LOG_LEVEL: 'warn' };
    await world.on({ settings }, async (stage) => {
      const send = async (due?: number) => await stage.ask({ key: stage.subject.key, body, ...(due && { due }) });
      const { answers: warm, startedAt, endedAt } = await closedLoad(4, 2, send);
      const rate = (warm.length / (endedAt - startedAt)) * 1_000 * 0.3;
      const kills = world.choose(30, 1_000);
      const killing = killAll(world, stage, kills);
      const answers = [];
      while (!killing.done()) {
        answers.push(...(await openLoad({ rate, seconds: 2, random: world.random, send })).answers);
      }
      const served = answers.filter(({ status }) => status === 200);
      world.figure('workers killed', `${await killing.killed}, ${answers.length} requests`);
      world.atLeast('served', served.length / answers.length, SERVED);
      world.figure(
        'p99',
        milliseconds(
          quantile(
            served.map(({ ms }) => ms),
            0.99,
          ),
        ),
      );
      const { restarts } = (await stage.subject.health()).renderer.images;
      world.figure('restarts the server counted', String(restarts));
    });
  },
};

/** One at a time, and only when the pool is whole: two lost attempts of one render would be a fault of the test. */
function killAll(world: World, { subject }: Stage, kills: number): { done: () => boolean; killed: Promise<number> } {
  let over = false;
  const kill = async (): Promise<number> => {
    for (let count = 0; count < kills; count += 1) {
      await until(async () => {
        const { restarts, ready, workers } = (await subject.health()).renderer.images;
        return restarts >= count && ready === workers;
      }, 60_000);
      process.kill(world.random.pick(subject.workers('image')), 'SIGKILL');
    }
    return kills;
  };
  const killed = kill().finally(() => {
    over = true;
  });
  // Awaited when the load is over; it may fail before.
  killed.catch(() => undefined);
  return { done: () => over, killed };
}
