// More load than the server can handle. Measures how much it still delivers, how fast, and how fast it refuses the
// rest.

import { milliseconds, quantile } from '../figures.ts';
import { closedLoad, goodput, latency, type LoadResult, openLoad, served } from '../load.ts';
import { storyForm } from '../payloads.ts';
import { cpuOf, stolenMs } from '../processes.ts';
import type { Subject } from '../subject.ts';
import type { Fixture, Scenario, World } from '../world.ts';

const DEADLINE_SECONDS = 15;
const CLIENTS = 6;
const STEPS = [
  { times: 0.7, min: 0.99 },
  { times: 2, min: 0.95 },
  { times: 10, min: 0.85 },
] as const;

export const overload: Scenario = {
  name: 'overload',
  about: 'story photos arrive at 0.7, 2 and 10 times the capacity',
  run: async (world) => {
    const body = await storyForm();
    const settings = { STORYBAR_DEADLINE_SECONDS: String(DEADLINE_SECONDS), STORYBAR_LOG_LEVEL: 'warn' };
    await world.withServer({ settings }, async (fixture) => {
      const send = async (due: number) => await fixture.request({ key: fixture.subject.key, body, due });
      // Warm up until V8 has optimized the code, including the code that refuses requests.
      const coldCapacity = await capacityOf(fixture, body, world.choose(6, 20));
      await openLoad({ rate: coldCapacity * 10, seconds: 4, random: world.random, send });
      let before = await capacityOf(fixture, body, world.choose(3, 20));
      for (const step of STEPS) {
        const rate = before * step.times;
        const cpuUsed = measureCpu(fixture.subject);
        const result = await openLoad({ rate, seconds: world.choose(6, 60), random: world.random, send });
        const cpuTimes = cpuUsed();
        // Other programs may use the machine, so capacity is measured before and after each step.
        const after = await capacityOf(fixture, body, world.choose(3, 20));
        report(world, step, result, (before + after) / 2);
        world.figure(`${step.times}x CPU time`, cpuTimes);
        before = after;
      }
    });
  },
};

/** Returns deliveries per second when a few clients send requests without pause. */
export async function capacityOf({ request, subject }: Fixture, body: Buffer, seconds: number): Promise<number> {
  const result = await closedLoad(CLIENTS, seconds, async () => await request({ key: subject.key, body }));
  return goodput(result, 0, Number.POSITIVE_INFINITY);
}

/** Returns a function that formats the CPU time used since this call. */
function measureCpu(subject: Subject): () => string {
  const cpuTimesOf = (pids: readonly number[]): Map<number, number> =>
    new Map(pids.map((pid) => [pid, cpuOf(pid)?.cpuMs ?? 0]));
  const read = () => ({
    client: new Map([[process.pid, (process.cpuUsage().user + process.cpuUsage().system) / 1e3]]),
    server: cpuTimesOf([subject.pid]),
    // This is a minimum, because the time of workers that exited meanwhile is unknown.
    'workers at least': cpuTimesOf(subject.workers()),
    'stolen by the host': new Map([[0, stolenMs()]]),
  });
  const before: Readonly<Record<string, ReadonlyMap<number, number>>> = read();
  return () => {
    const times = Object.entries(read()).map(([name, after]) => {
      const ms = [...after].reduce((sum, [pid, now]) => sum + now - (before[name]?.get(pid) ?? 0), 0);
      return `${name} ${(ms / 1e3).toFixed(1)} s`;
    });
    return times.join(', ');
  };
}

function report(world: World, { times, min }: (typeof STEPS)[number], result: LoadResult, capacity: number): void {
  const { responses, lags } = result;
  const accepted = served(responses);
  const refused = responses.filter(({ status }) => status === 503 || status === 429);
  const broken = responses.filter(({ status }) => status === 0);
  const name = `${times}x`;
  world.figure(`${name} capacity, sent`, `${capacity.toFixed(1)}/s, ${responses.length}`);
  const seconds = (result.endedAt - result.startedAt) / 1_000;
  if (times < 1) {
    world.atLeast(`${name} served`, accepted.length / responses.length, min);
  } else {
    const reached = goodput(result, Math.min(2, seconds / 4) * 1_000, DEADLINE_SECONDS * 1_000);
    world.atLeast(`${name} goodput, share of capacity`, reached / capacity, min);
  }
  const p99 = quantile(
    accepted.map(({ ms }) => ms),
    0.99,
  );
  const target = { target: `<= ${DEADLINE_SECONDS * 1_000} ms`, met: p99 <= DEADLINE_SECONDS * 1_000 };
  world.figure(`${name} accepted p50`, latency(accepted, 0.5));
  world.figure(`${name} accepted p99`, milliseconds(p99), target);
  world.figure(`${name} refused p99 (of ${refused.length})`, latency(refused, 0.99));
  world.figure(`${name} load generator lag p99`, milliseconds(quantile(lags, 0.99)));
  world.none(`${name} broken connections`, broken.length);
}
