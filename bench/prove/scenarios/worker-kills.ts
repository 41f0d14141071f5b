// Workers are killed under load, again and again. Clients must not notice.

import { until } from '../../../test/running-server.ts';
import type { ResponseRecord } from '../journal.ts';
import { closedLoad, latency, openLoad, served, servedShare } from '../load.ts';
import { smallForm } from '../payloads.ts';
import type { Fixture, Scenario, World } from '../world.ts';

const MIN_SERVED = 0.999;
const WORKERS = '3';

export const workerKills: Scenario = {
  name: 'worker-kills',
  about: 'workers are killed under load; every request is still served',
  run: async (world) => {
    const body = await smallForm();
    const settings = { STORYBAR_WORKERS: WORKERS, STORYBAR_LOG_LEVEL: 'warn' };
    await world.withServer({ settings }, async (fixture) => {
      const send = async (due?: number) =>
        await fixture.request({ key: fixture.subject.key, body, ...(due && { due }) });
      const { responses: warmUp, startedAt, endedAt } = await closedLoad(4, 2, send);
      const rate = (warmUp.length / (endedAt - startedAt)) * 1_000 * 0.3;
      const kills = world.choose(15, 1_000);
      const killing = killWorkers(world, fixture, kills);
      const responses: ResponseRecord[] = [];
      while (!killing.isDone()) {
        responses.push(...(await openLoad({ rate, seconds: 2, random: world.random, send })).responses);
      }
      world.figure('workers killed', `${await killing.killed}, ${responses.length} requests`);
      world.atLeast('served', servedShare(responses), MIN_SERVED);
      world.figure('p99', latency(served(responses), 0.99));
      const { restarts } = (await fixture.subject.health()).renderer.images;
      world.figure('restarts counted by the server', String(restarts));
    });
  },
};

/** Kills one worker at a time and only when all are ready, because a render that loses two workers is meant to fail. */
function killWorkers(
  world: World,
  { subject }: Fixture,
  kills: number,
): { isDone: () => boolean; killed: Promise<number> } {
  let isDone = false;
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
    isDone = true;
  });
  // The caller awaits it after the load. Until then a failure must not count as an unhandled rejection.
  killed.catch(() => undefined);
  return { isDone: () => isDone, killed };
}
