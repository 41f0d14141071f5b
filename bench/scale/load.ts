// Closed-loop load: as many callers as asked for, each asking again as soon as it is served.

import { randomUUID } from 'node:crypto';
import { rm } from 'node:fs/promises';
import path from 'node:path';
import type { Renderer } from '../../src/dispatch/renderer.ts';
import type { Asset } from '../../src/media/asset.ts';
import { composeRecipe } from '../../src/render/compose.ts';
import { LIMITS, OVERLAYS } from './work.ts';

export interface Work {
  /** Absent: bars alone, nothing to fetch. */
  readonly asset: Asset | undefined;
  readonly directory: string;
}

const WARM_UP_SECONDS = 3;

/** What a request asks of a renderer. */
export async function renderOnce(renderer: Renderer, { asset, directory }: Work): Promise<number> {
  const output = path.join(directory, randomUUID());
  const { signal } = new AbortController();
  const started = performance.now();
  const base = asset
    ? await renderer.probe(asset, LIMITS, signal)
    : ({ kind: 'canvas', width: 1080, height: 1920 } as const);
  await renderer.render({ recipe: composeRecipe(base, OVERLAYS, LIMITS), asset, output }, signal);
  const ms = performance.now() - started;
  await rm(output);
  return ms;
}

export interface Throughput {
  readonly perSecond: number;
  /** Processor time of this process, which is the front, for one render. */
  readonly cpuMs: number;
}

export async function throughput(
  renderer: Renderer,
  work: Work,
  callers: number,
  seconds: number,
): Promise<Throughput> {
  const over = new AbortController();
  let done = 0;
  const call = async (): Promise<void> => {
    while (!over.signal.aborted) {
      await renderOnce(renderer, work);
      done += 1;
    }
  };
  const calling = Promise.all(Array.from({ length: callers }, call));
  // Until every slot is at work, and its code compiled.
  await pause(WARM_UP_SECONDS);
  done = 0;
  const started = performance.now();
  const before = process.cpuUsage();
  await pause(seconds);
  const perSecond = (done * 1_000) / (performance.now() - started);
  const { user, system } = process.cpuUsage(before);
  const cpuMs = (user + system) / 1_000 / done;
  over.abort();
  await calling;
  return { perSecond, cpuMs };
}

export function percentile(values: readonly number[], share: number): number {
  const sorted = values.toSorted((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? Number.NaN;
}

async function pause(seconds: number): Promise<void> {
  await new Promise((resolve) => setTimeout(resolve, seconds * 1_000));
}
