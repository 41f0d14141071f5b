// One key sends far more than its share while others stay within theirs. One of the others has rendered alone before, which
// must not count against it.

import { must } from '../../../src/primitives/must.ts';
import { percent } from '../figures.ts';
import { closedLoad, latency, type LoadResult, openLoad, served, servedShare } from '../load.ts';
import { storyForm } from '../payloads.ts';
import type { Scenario, World } from '../world.ts';
import { capacityOf } from './overload.ts';

const FAIR_KEYS = 4;
/** Fraction of the capacity that all fair keys use together. */
const FAIR_LOAD = 0.4;
const ABUSE_FACTOR = 20;
const MIN_SERVED = 0.99;
/** As many requests at a time as two workers need to be always busy. */
const HISTORY_CLIENTS = 4;

export const fairness: Scenario = {
  name: 'fairness',
  about: `one key at ${ABUSE_FACTOR} times its share next to ${FAIR_KEYS} within theirs, one of which rendered alone before`,
  run: async (world) => {
    const body = await storyForm();
    const settings = { STORYBAR_LOG_LEVEL: 'warn' };
    await world.withServer({ accounts: FAIR_KEYS + 1, settings }, async (stage) => {
      const keys = stage.subject.accounts.map(({ key }) => key);
      const send = async (key: string, due = performance.now()) => await stage.request({ key, body, due });
      await capacityOf(stage, body, 1);
      const capacity = await capacityOf(stage, body, world.choose(3, 10));
      world.figure('capacity', `${capacity.toFixed(1)}/s`);
      const veteran = must(keys[1], 'the key that renders alone');
      const alone = await closedLoad(HISTORY_CLIENTS, world.choose(8, 60), async () => await send(veteran));
      world.figure('renders of one fair key before the contest', String(served(alone.responses).length));
      const seconds = world.choose(8, 60);
      const loads = await Promise.all(
        keys.map(async (key, index) => {
          const rate = index === 0 ? (capacity / keys.length) * ABUSE_FACTOR : (capacity * FAIR_LOAD) / FAIR_KEYS;
          return await openLoad({ rate, seconds, random: world.random, send: async (due) => await send(key, due) });
        }),
      );
      report(world, loads);
    });
  },
};

/** The first load is that of the abusive key, the second that of the key with a history. */
function report(world: World, loads: readonly LoadResult[]): void {
  const [abusive, ...others] = loads.map(({ responses }) => responses);
  const fair = others.flat();
  const veteran = must(others[0], 'the load of the key with a history');
  const abuse = must(abusive, 'the load of the abusive key');
  world.atLeast(`fair keys served (of ${fair.length})`, servedShare(fair), MIN_SERVED);
  world.atLeast(`fair key with a history served (of ${veteran.length})`, servedShare(veteran), MIN_SERVED);
  world.figure('fair keys p99', latency(served(fair), 0.99));
  world.figure(`abusive key served (of ${abuse.length})`, percent(servedShare(abuse)));
  world.none('broken connections', [...fair, ...abuse].filter(({ status }) => status === 0).length);
}
