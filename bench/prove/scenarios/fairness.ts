// One key that sends twenty times what the server can do, beside others that behave.

import { milliseconds, percent, quantile } from '../figures.ts';
import { openLoad } from '../load.ts';
import { storyForm } from '../payloads.ts';
import type { Scenario } from '../world.ts';
import { capacityOf } from './overload.ts';

const FAIR_KEYS = 4;
/** Of the capacity, all fair keys together. */
const FAIR_PART = 0.4;
const ABUSE = 20;

export const fairness: Scenario = {
  name: 'fairness',
  about: `a key at ${ABUSE} times its share beside ${FAIR_KEYS} that behave`,
  run: async (world) => {
    const body = await storyForm();
    const settings = { STORYBAR_LOG_LEVEL: 'warn' };
    await world.withServer({ accounts: FAIR_KEYS + 1, settings }, async (stage) => {
      const { accounts: holders } = stage.subject;
      await capacityOf(stage, body, 1);
      const capacity = await capacityOf(stage, body, world.choose(3, 10));
      const seconds = world.choose(8, 60);
      const share = capacity / (FAIR_KEYS + 1);
      const send = (key: string) => async (due: number) => await stage.request({ key, body, due });
      const keyOf = (index: number): string => holders[index]?.key ?? '';
      const [abuse, ...fair] = await Promise.all(
        holders.map(async (_, index) => {
          const rate = index === 0 ? share * ABUSE : (capacity * FAIR_PART) / FAIR_KEYS;
          return await openLoad({ rate, seconds, random: world.random, send: send(keyOf(index)) });
        }),
      );
      const answers = fair.flatMap((loaded) => loaded.responses);
      const served = answers.filter(({ status }) => status === 200);
      world.figure('capacity', `${capacity.toFixed(1)}/s`);
      world.atLeast(`fair keys served (of ${answers.length})`, served.length / answers.length, 0.99);
      world.figure(
        'fair keys p99',
        milliseconds(
          quantile(
            served.map(({ ms }) => ms),
            0.99,
          ),
        ),
      );
      const abused = abuse?.responses ?? [];
      const got = abused.filter(({ status }) => status === 200).length / Math.max(1, abused.length);
      world.figure(`abusive key served (of ${abused.length})`, percent(got));
      world.none('broken connections', [...answers, ...abused].filter(({ status }) => status === 0).length);
    });
  },
};
