// More than the server can do: what it still delivers, how fast, and how fast it says no.

import { milliseconds, quantile } from '../figures.ts';
import { closedLoad, goodput, type Loaded, openLoad } from '../load.ts';
import { storyForm } from '../payloads.ts';
import { effortOf, stolenMs } from '../processes.ts';
import type { Subject } from '../subject.ts';
import type { Scenario, Stage, World } from '../world.ts';

const DEADLINE_SECONDS = 15;
const CLIENTS = 6;
const STEPS = [
  { times: 0.7, least: 0.99 },
  { times: 2, least: 0.95 },
  { times: 10, least: 0.9 },
] as const;

export const overload: Scenario = {
  name: 'overload',
  about: 'open load at 0.7, 2 and 10 times the capacity, story photos',
  run: async (world) => {
    const body = await storyForm();
    const settings = { STORYBAR_DEADLINE_SECONDS: String(DEADLINE_SECONDS), STORYBAR_LOG_LEVEL: 'warn' };
    await world.on({ settings }, async (stage) => {
      const send = async (due: number) => await stage.ask({ key: stage.subject.key, body, due });
      // Until the code that matters is compiled, that which refuses included: a young server is not what is measured.
      const young = await capacityOf(stage, body, world.choose(6, 20));
      await openLoad({ rate: young * 10, seconds: 4, random: world.random, send });
      let before = await capacityOf(stage, body, world.choose(3, 20));
      for (const step of STEPS) {
        const rate = before * step.times;
        const spent = watchProcessors(stage.subject);
        const loaded = await openLoad({ rate, seconds: world.choose(6, 60), random: world.random, send });
        const shares = spent();
        // Others may use the machine: what it can do is measured before and after each step.
        const after = await capacityOf(stage, body, world.choose(3, 20));
        report(world, step, loaded, (before + after) / 2);
        world.figure(`${step.times}x processor time`, shares);
        before = after;
      }
    });
  },
};

/** Deliveries a second when a few clients ask without a pause. */
export async function capacityOf({ ask, subject }: Stage, body: Buffer, seconds: number): Promise<number> {
  const loaded = await closedLoad(CLIENTS, seconds, async () => await ask({ key: subject.key, body }));
  return goodput(loaded, 0, Number.POSITIVE_INFINITY);
}

/** Who used the processors in between. */
function watchProcessors(subject: Subject): () => string {
  const effortsOf = (pids: readonly number[]): Map<number, number> =>
    new Map(pids.map((pid) => [pid, effortOf(pid)?.cpuMs ?? 0]));
  const read = () => ({
    client: new Map([[process.pid, (process.cpuUsage().user + process.cpuUsage().system) / 1e3]]),
    server: effortsOf([subject.pid]),
    // Of workers that retired meanwhile nothing is known.
    'workers at least': effortsOf(subject.workers()),
    'stolen by the host': new Map([[0, stolenMs()]]),
  });
  const before: Readonly<Record<string, ReadonlyMap<number, number>>> = read();
  return () => {
    const spent = Object.entries(read()).map(([who, efforts]) => {
      const ms = [...efforts].reduce((sum, [pid, now]) => sum + now - (before[who]?.get(pid) ?? 0), 0);
      return `${who} ${(ms / 1e3).toFixed(1)} s`;
    });
    return spent.join(', ');
  };
}

function report(world: World, { times, least }: (typeof STEPS)[number], loaded: Loaded, capacity: number): void {
  const { answers, lags } = loaded;
  const accepted = answers.filter(({ status }) => status === 200).map(({ ms }) => ms);
  const refused = answers.filter(({ status }) => status === 503 || status === 429).map(({ ms }) => ms);
  const broken = answers.filter(({ status }) => status === 0);
  const name = `${times}x`;
  world.figure(`${name} capacity, sent`, `${capacity.toFixed(1)}/s, ${answers.length}`);
  const seconds = (loaded.endedAt - loaded.startedAt) / 1_000;
  if (times < 1) {
    world.atLeast(`${name} delivered`, accepted.length / answers.length, least);
  } else {
    const reached = goodput(loaded, Math.min(2, seconds / 4) * 1_000, DEADLINE_SECONDS * 1_000);
    world.atLeast(`${name} goodput of capacity`, reached / capacity, least);
  }
  const p99 = quantile(accepted, 0.99);
  const inTime = { target: `<= ${DEADLINE_SECONDS * 1_000} ms`, met: p99 <= DEADLINE_SECONDS * 1_000 };
  world.figure(`${name} accepted p50`, milliseconds(quantile(accepted, 0.5)));
  world.figure(`${name} accepted p99`, milliseconds(p99), inTime);
  world.figure(`${name} refused p99 (of ${refused.length})`, milliseconds(quantile(refused, 0.99)));
  world.figure(`${name} generator late p99`, milliseconds(quantile(lags, 0.99)));
  world.none(`${name} broken connections`, broken.length);
}
