// Closed-loop load: a fixed number of clients, each of which sends its next request as soon as it has a response.

import { randomUUID } from 'node:crypto';
import { rm } from 'node:fs/promises';
import path from 'node:path';
import { type Renderer, withLease } from '../../src/service/dispatch/renderer.ts';
import { anyone } from '../../test/dispatch/lease-requests.ts';
import type { Asset } from '../../src/engine/media/asset.ts';
import { composeRecipe } from '../../src/engine/render/compose.ts';
import { LIMITS, OVERLAYS } from './work.ts';

export interface Work {
  /** Absent for a transparent overlay. */
  readonly asset: Asset | undefined;
  readonly directory: string;
}

const WARM_UP_SECONDS = 3;

/** Probes and renders as the server does for one request. Resolves with the milliseconds it took. */
export async function renderOnce(renderer: Renderer, { asset, directory }: Work): Promise<number> {
  const output = path.join(directory, randomUUID());
  const started = performance.now();
  await withLease(renderer, anyone(), async (lease) => {
    const base = asset ? await lease.probe(asset, LIMITS) : ({ kind: 'canvas', width: 1080, height: 1920 } as const);
    return await lease.render({ recipe: composeRecipe(base, OVERLAYS, LIMITS), asset, output });
  });
  const ms = performance.now() - started;
  await rm(output);
  return ms;
}

export interface Throughput {
  readonly perSecond: number;
  /** CPU time per render of this process, which is the API server. */
  readonly cpuMs: number;
}

export async function throughput(
  renderer: Renderer,
  work: Work,
  clients: number,
  seconds: number,
): Promise<Throughput> {
  const over = new AbortController();
  let done = 0;
  const client = async (): Promise<void> => {
    while (!over.signal.aborted) {
      await renderOnce(renderer, work);
      done += 1;
    }
  };
  const running = Promise.all(Array.from({ length: clients }, client));
  // Waits until every slot is busy and its code is compiled.
  await pause(WARM_UP_SECONDS);
  done = 0;
  const started = performance.now();
  const before = process.cpuUsage();
  await pause(seconds);
  const perSecond = (done * 1_000) / (performance.now() - started);
  const { user, system } = process.cpuUsage(before);
  const cpuMs = (user + system) / 1_000 / done;
  over.abort();
  await running;
  return { perSecond, cpuMs };
}

export function percentile(values: readonly number[], share: number): number {
  const sorted = values.toSorted((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? Number.NaN;
}

async function pause(seconds: number): Promise<void> {
  await new Promise((resolve) => setTimeout(resolve, seconds * 1_000));
}
