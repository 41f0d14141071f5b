// Load. Open: arrivals by a schedule that no answer can slow down, each counted from the moment it was due, so that a
// server that stalls cannot hide it. Closed: a few clients that ask again as soon as they are answered, for capacity.

import { setImmediate as turn, setTimeout as wait } from 'node:timers/promises';
import type { Random } from '../../test/store/random.ts';
import type { Answer } from './journal.ts';

export interface OpenLoad {
  readonly rate: number;
  readonly seconds: number;
  readonly random: Random;
  readonly send: (due: number) => Promise<Answer>;
}

export interface Loaded {
  readonly answers: readonly Answer[];
  readonly startedAt: number;
  readonly endedAt: number;
  /** How late the generator itself was, in milliseconds for each arrival. */
  readonly lags: readonly number[];
}

const RESOLUTION = 1_000_000;

/** Arrivals of many independent callers: the gaps are exponentially distributed. */
export async function openLoad({ rate, seconds, random, send }: OpenLoad): Promise<Loaded> {
  const startedAt = performance.now();
  const endedAt = startedAt + seconds * 1_000;
  const pending: Promise<Answer>[] = [];
  const lags: number[] = [];
  const gap = (): number => (-Math.log(1 - random.whole(RESOLUTION) / RESOLUTION) / rate) * 1_000;
  for (let due = startedAt + gap(); due < endedAt; due += gap()) {
    const early = due - performance.now();
    // Late: answers are read all the same, or the generator would measure itself.
    await (early > 0 ? wait(early) : turn());
    lags.push(Math.max(0, performance.now() - due));
    pending.push(send(due));
  }
  return { answers: await Promise.all(pending), startedAt, endedAt, lags };
}

export async function closedLoad(clients: number, seconds: number, send: () => Promise<Answer>): Promise<Loaded> {
  const startedAt = performance.now();
  const endedAt = startedAt + seconds * 1_000;
  const answers: Answer[] = [];
  const client = async (): Promise<void> => {
    while (performance.now() < endedAt) answers.push(await send());
  };
  await Promise.all(Array.from({ length: clients }, client));
  return { answers, startedAt, endedAt, lags: [] };
}

/** Deliveries a second, leaving out the first moments in which a queue only fills. */
export function goodput({ answers, startedAt, endedAt }: Loaded, warmUpMs: number, withinMs: number): number {
  const from = startedAt + warmUpMs;
  const good = answers.filter(({ status, at, ms }) => status === 200 && at >= from && at <= endedAt && ms <= withinMs);
  return good.length / ((endedAt - from) / 1_000);
}
