// Load generators. In open load, requests arrive on a schedule that no response slows down, and latency counts from the
// moment a request was due, so a stalled server can't hide it. In closed load, a few clients send the next request as
// soon as they have a response, to measure capacity.

import { setImmediate as yieldToEventLoop, setTimeout as wait } from 'node:timers/promises';
import type { Random } from '../../test/store/random.ts';
import { milliseconds, quantile } from './figures.ts';
import type { ResponseRecord } from './journal.ts';

export interface OpenLoad {
  /** Requests per second. */
  readonly rate: number;
  readonly seconds: number;
  readonly random: Random;
  readonly send: (due: number) => Promise<ResponseRecord>;
}

export interface LoadResult {
  readonly responses: readonly ResponseRecord[];
  readonly startedAt: number;
  readonly endedAt: number;
  /** The delay in milliseconds with which the generator sent each request. */
  readonly lags: readonly number[];
}

const RESOLUTION = 1_000_000;

/** Sends like many independent clients: the gaps between requests are exponentially distributed. */
export async function openLoad({ rate, seconds, random, send }: OpenLoad): Promise<LoadResult> {
  const startedAt = performance.now();
  const endedAt = startedAt + seconds * 1_000;
  const pending: Promise<ResponseRecord>[] = [];
  const lags: number[] = [];
  const gap = (): number => (-Math.log(1 - random.whole(RESOLUTION) / RESOLUTION) / rate) * 1_000;
  for (let due = startedAt + gap(); due < endedAt; due += gap()) {
    const early = due - performance.now();
    // A late generator must still read responses, or it would measure its own delay.
    await (early > 0 ? wait(early) : yieldToEventLoop());
    lags.push(Math.max(0, performance.now() - due));
    pending.push(send(due));
  }
  return { responses: await Promise.all(pending), startedAt, endedAt, lags };
}

export async function closedLoad(
  clients: number,
  seconds: number,
  send: () => Promise<ResponseRecord>,
): Promise<LoadResult> {
  const startedAt = performance.now();
  const endedAt = startedAt + seconds * 1_000;
  const responses: ResponseRecord[] = [];
  const client = async (): Promise<void> => {
    while (performance.now() < endedAt) responses.push(await send());
  };
  await Promise.all(Array.from({ length: clients }, client));
  return { responses, startedAt, endedAt, lags: [] };
}

/** Returns deliveries per second, without the warm-up in which the queue fills. */
export function goodput({ responses, startedAt, endedAt }: LoadResult, warmUpMs: number, withinMs: number): number {
  const from = startedAt + warmUpMs;
  const good = responses.filter(
    ({ status, receivedAt, ms }) => status === 200 && receivedAt >= from && receivedAt <= endedAt && ms <= withinMs,
  );
  return good.length / ((endedAt - from) / 1_000);
}

export function served(responses: readonly ResponseRecord[]): ResponseRecord[] {
  return responses.filter(({ status }) => status === 200);
}

export function servedShare(responses: readonly ResponseRecord[]): number {
  return served(responses).length / responses.length;
}

/** Formats a quantile of the latencies. */
export function latency(responses: readonly ResponseRecord[], share: number): string {
  return milliseconds(
    quantile(
      responses.map(({ ms }) => ms),
      share,
    ),
  );
}
