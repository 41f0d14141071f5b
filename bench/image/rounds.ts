// Interleaved measuring: every round asks each contender once, so that a noisy moment of the machine hits all of them, and
// ratios are taken inside a round before their median is.

import { performance } from 'node:perf_hooks';

export interface Runner<Result> {
  readonly name: string;
  run(): Promise<Result>;
}

export interface Series<Result> {
  readonly name: string;
  /** By round; `undefined` where a slow contender sat out. */
  readonly times: readonly (number | undefined)[];
  readonly last: Result;
}

/** Slow contenders take part in as many rounds as this allows. */
const TIME_PER_CONTENDER_MS = 5_000;
const FEWEST_ROUNDS = 2;
/** Enough for code to be compiled; a contender that takes longer than this is not waiting for its compiler. */
const WARM_UP_MS = 800;
const MOST_WARM_UPS = 30;

export async function interleave<Result>(
  runners: readonly Runner<Result>[],
  rounds: number,
  beforeEach: () => Promise<void> = async () => undefined,
): Promise<Series<Result>[]> {
  const entries: { runner: Runner<Result>; times: (number | undefined)[]; last: Result; share: number }[] = [];
  for (const runner of runners) {
    const warm = await warmUp(runner);
    const affordable = Math.max(FEWEST_ROUNDS, Math.floor(TIME_PER_CONTENDER_MS / warm.ms));
    entries.push({ runner, times: [], last: warm.result, share: Math.min(1, affordable / rounds) });
  }
  for (let round = 0; round < rounds; round += 1) {
    // There and back again: nobody always runs in the wake of the same neighbour.
    for (const entry of round % 2 === 0 ? entries : entries.toReversed()) {
      // Spread evenly over all rounds, the first included.
      const takesPart = round === 0 || Math.floor(round * entry.share) > Math.floor((round - 1) * entry.share);
      if (takesPart) await beforeEach();
      const { ms, result } = takesPart ? await timed(entry.runner) : { ms: undefined, result: entry.last };
      entry.times.push(ms);
      entry.last = result;
    }
  }
  return entries.map(({ runner, times, last }) => ({ name: runner.name, times, last }));
}

/** Its time is the shortest seen: it decides how many rounds a contender can afford. */
async function warmUp<Result>(runner: Runner<Result>): Promise<{ ms: number; result: Result }> {
  let { ms, result } = await timed(runner);
  let spent = ms;
  for (let count = 1; count < MOST_WARM_UPS && spent < WARM_UP_MS; count += 1) {
    const next = await timed(runner);
    spent += next.ms;
    ms = Math.min(ms, next.ms);
    result = next.result;
  }
  return { ms, result };
}

async function timed<Result>(runner: Runner<Result>): Promise<{ ms: number; result: Result }> {
  const start = performance.now();
  const result = await runner.run();
  return { ms: performance.now() - start, result };
}

export function median(values: readonly (number | undefined)[]): number {
  const sorted = values.filter((value) => value !== undefined).toSorted((a, b) => a - b);
  const middle = (sorted.length - 1) / 2;
  const low = sorted[Math.floor(middle)] ?? Number.NaN;
  const high = sorted[Math.ceil(middle)] ?? Number.NaN;
  return (low + high) / 2;
}

/** What the machine can do when nobody disturbs it. */
export function best(values: readonly (number | undefined)[]): number {
  return Math.min(...values.filter((value) => value !== undefined));
}

/** The median over the rounds in which both took part. */
export function medianRatio(of: Series<unknown>, to: Series<unknown>): number {
  return median(
    of.times.map((ms, round) => {
      const base = to.times[round];
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
  if (!found) throw new Error(`nothing was measured for ${name}`);
  return found;
}
