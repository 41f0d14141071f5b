// Fairness between keys. In the first contest, one key sends far more than its share while others stay within theirs. In the
// second, two keys send more than the server can handle, and one of them has rendered alone before.

import { setTimeout as wait } from 'node:timers/promises';
import { must } from '../../../src/shared/must.ts';
import { percent } from '../figures.ts';
import { closedLoad, goodput, latency, type LoadResult, openLoad, served, servedShare } from '../load.ts';
import type { ResponseRecord } from '../journal.ts';
import { storyForm } from '../payloads.ts';
import type { Scenario, World } from '../world.ts';
import { capacityOf } from './overload.ts';

const FAIR_KEYS = 4;
/** Fraction of the capacity that all fair keys use together. */
const FAIR_LOAD = 0.4;
const ABUSE_FACTOR = 20;
const MIN_SERVED = 0.99;
/** The load of competing keys, as multiples of the capacity. */
const HISTORY_KEY_LOAD = 1;
const RIVAL_LOAD = 2;
/** The rival starts earlier, so that its renders are waiting when the other key starts. */
const HEAD_START_SECONDS = 2;
const MIN_RATIO = 0.7;
/** The time until the first renders of a load are delivered. */
const WARM_UP_MS = 1_000;

interface Contest {
  /** The key that has already rendered alone. */
  readonly withHistory: string;
  readonly rival: string;
}

type SendLoad = (key: string, rate: number, seconds: number) => Promise<LoadResult>;

export const fairness: Scenario = {
  name: 'fairness',
  about: `a key at ${ABUSE_FACTOR} times its share beside ${FAIR_KEYS} others; two busy keys, one of which rendered alone before`,
  run: async (world) => {
    const body = await storyForm();
    const settings = { STORYBAR_LOG_LEVEL: 'warn' };
    await world.withServer({ accounts: FAIR_KEYS + 1, settings }, async (stage) => {
      const keys = stage.subject.accounts.map(({ key }) => key);
      const send = async (key: string, due = performance.now()) => await stage.request({ key, body, due });
      const sendLoad: SendLoad = async (key, rate, seconds) =>
        await openLoad({ rate, seconds, random: world.random, send: async (due) => await send(key, due) });
      await capacityOf(stage, body, 1);
      const capacity = await capacityOf(stage, body, world.choose(3, 10));
      world.figure('capacity', `${capacity.toFixed(1)}/s`);
      await abuse(world, keys, capacity, sendLoad);
      const contest = { withHistory: must(keys[1], 'the second key'), rival: must(keys[2], 'the third key') };
      // One request is sent at a time, so that each finds a free worker.
      const history = await closedLoad(1, world.choose(15, 60), async () => await send(contest.withHistory));
      world.figure('renders before the contest', String(served(history.responses).length));
      await compete(world, contest, capacity, sendLoad);
    });
  },
};

async function abuse(world: World, keys: readonly string[], capacity: number, sendLoad: SendLoad): Promise<void> {
  const [abusive, ...fair] = await Promise.all(
    keys.map(async (key, index) => {
      const rate = index === 0 ? (capacity / keys.length) * ABUSE_FACTOR : (capacity * FAIR_LOAD) / FAIR_KEYS;
      return await sendLoad(key, rate, world.choose(8, 60));
    }),
  );
  const abusiveResponses = must(abusive, 'the load of the abusive key').responses;
  const fairResponses = fair.flatMap(({ responses }) => responses);
  world.atLeast(`fair keys served (of ${fairResponses.length})`, servedShare(fairResponses), MIN_SERVED);
  world.figure('fair keys p99', latency(served(fairResponses), 0.99));
  world.figure(`abusive key served (of ${abusiveResponses.length})`, percent(servedShare(abusiveResponses)));
  world.none('broken connections', brokenOf([...abusiveResponses, ...fairResponses]));
}

async function compete(
  world: World,
  { withHistory, rival }: Contest,
  capacity: number,
  sendLoad: SendLoad,
): Promise<void> {
  // This is shorter than the time alone, so a debt from that time would keep that key from being served until the end.
  const seconds = world.choose(8, 30);
  const rivalLoad = sendLoad(rival, capacity * RIVAL_LOAD, HEAD_START_SECONDS + seconds);
  await wait(HEAD_START_SECONDS * 1_000);
  const loads = [await sendLoad(withHistory, capacity * HISTORY_KEY_LOAD, seconds), await rivalLoad] as const;
  const rates = {
    withHistory: goodput(loads[0], WARM_UP_MS, Number.POSITIVE_INFINITY),
    rival: goodput(loads[1], HEAD_START_SECONDS * 1_000 + WARM_UP_MS, Number.POSITIVE_INFINITY),
  };
  world.figure('key with history, rival', `${rates.withHistory.toFixed(1)}/s, ${rates.rival.toFixed(1)}/s`);
  world.atLeast('key with history compared to rival', rates.withHistory / rates.rival, MIN_RATIO);
  world.none('broken connections in the contest', brokenOf(loads.flatMap(({ responses }) => responses)));
}

function brokenOf(responses: readonly ResponseRecord[]): number {
  return responses.filter(({ status }) => status === 0).length;
}
