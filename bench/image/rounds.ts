// Interleaved measurement: each round runs every contender once, so that noise on the machine affects all of them.
// Ratios are computed within a round, and their median is reported.

import { performance } from 'node:perf_hooks';

export interface Timed<Result> {
  readonly ms: number;
  /** Processor time on all threads of the process. */
  readonly cpuMs: number;
  readonly result: Result;
}

export interface Runner<Result> {
  readonly name: string;
  run(): Promise<Result>;
}

/** A runner whose time is measured in the process that does the work. */
export interface TimedRunner<Result> {
  readonly name: string;
  runTimed(): Promise<Timed<Result>>;
}

export interface Series<Result> {
  readonly name: string;
  /** Milliseconds per round. `undefined` for rounds that a slow contender skipped. */
  readonly times: readonly (number | undefined)[];
  /** Processor time per round. */
  readonly cpuTimes: readonly (number | undefined)[];
  readonly last: Result;
}

/** Slow contenders run only as many rounds as fit into this time. */
const TIME_PER_CONTENDER_MS = 5_000;
const MIN_ROUNDS = 2;
/** Long enough for the JIT compiler. */
const WARM_UP_MS = 800;
const MAX_WARM_UPS = 30;

type AnyRunner<Result> = Runner<Result> | TimedRunner<Result>;

interface Entry<Result> {
  readonly runner: AnyRunner<Result>;
  readonly times: (number | undefined)[];
  readonly cpuTimes: (number | undefined)[];
  readonly share: number;
  last: Result;
}

export async function interleave<Result>(
  runners: readonly AnyRunner<Result>[],
  rounds: number,
  beforeEach: () => Promise<void> = async () => undefined,
): Promise<Series<Result>[]> {
  const entries: Entry<Result>[] = [];
  for (const runner of runners) {
    const warm = await warmUp(runner);
    const affordable = Math.max(MIN_ROUNDS, Math.floor(TIME_PER_CONTENDER_MS / warm.ms));
    entries.push({ runner, times: [], cpuTimes: [], last: warm.result, share: Math.min(1, affordable / rounds) });
  }
  for (let round = 0; round < rounds; round += 1) {
    // Alternate the order, so that no contender always runs after the same one.
    for (const entry of round % 2 === 0 ? entries : entries.toReversed()) {
      // Spread the runs of a slow contender evenly over all rounds, including the first.
      const takesPart = round === 0 || Math.floor(round * entry.share) > Math.floor((round - 1) * entry.share);
      if (takesPart) await beforeEach();
      const measured = takesPart ? await timed(entry.runner) : undefined;
      entry.times.push(measured?.ms);
      entry.cpuTimes.push(measured?.cpuMs);
      if (measured) entry.last = measured.result;
    }
  }
  return entries.map(({ runner, times, cpuTimes, last }) => ({ name: runner.name, times, cpuTimes, last }));
}

/** Returns the shortest time, which determines how many rounds a slow contender runs. */
async function warmUp<Result>(runner: AnyRunner<Result>): Promise<{ ms: number; result: Result }> {
  let { ms, result } = await timed(runner);
  let spent = ms;
  for (let count = 1; count < MAX_WARM_UPS && spent < WARM_UP_MS; count += 1) {
    const next = await timed(runner);
    spent += next.ms;
    ms = Math.min(ms, next.ms);
    result = next.result;
  }
  return { ms, result };
}

export async function timed<Result>(runner: AnyRunner<Result>): Promise<Timed<Result>> {
  if ('runTimed' in runner) return await runner.runTimed();
  const cpuStart = process.cpuUsage();
  const start = performance.now();
  const result = await runner.run();
  const ms = performance.now() - start;
  const { user, system } = process.cpuUsage(cpuStart);
  return { ms, cpuMs: (user + system) / 1e3, result };
}

export function median(values: readonly (number | undefined)[]): number {
  const sorted = values.filter((value) => value !== undefined).toSorted((a, b) => a - b);
  const middle = (sorted.length - 1) / 2;
  const low = sorted[Math.floor(middle)] ?? Number.NaN;
  const high = sorted[Math.ceil(middle)] ?? Number.NaN;
  return (low + high) / 2;
}

/** Returns the shortest time, which is the least affected by other load on the machine. */
export function best(values: readonly (number | undefined)[]): number {
  return Math.min(...values.filter((value) => value !== undefined));
}

/** Returns the median over the rounds that both ran. */
export function medianRatio(of: Series<unknown>, to: Series<unknown>, measure: 'times' | 'cpuTimes' = 'times'): number {
  return median(
    of[measure].map((ms, round) => {
      const base = to[measure][round];
      return ms === undefined || base === undefined ? undefined : ms / base;
    }),
  );
}

export function medianDifference(of: Series<unknown>, minus: Series<unknown>): number {
  return median(
    of.times.map((ms, round) => {
      const base = minus.times[round];
      return ms === undefined || base === undefined ? undefined : ms - base;
    }),
  );
}

export function seriesNamed<Result>(all: readonly Series<Result>[], name: string): Series<Result> {
  const found = all.find((series) => series.name === name);
  if (!found) throw new Error(`there are no measurements of ${name}`);
  return found;
}
