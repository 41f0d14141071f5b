// How the engine scales when renders cost only time: one, two, ... sixteen workers of one slot each.

import type { Asset } from '../../src/media/asset.ts';
import { fixed, formatTable } from '../image/table.ts';
import type { Fleet } from './fleet.ts';
import { percentile, throughput } from './load.ts';

const SIZES = [1, 2, 3, 4, 8, 16] as const;

export interface EngineOptions {
  readonly title: string;
  readonly renderMs: number;
  readonly outputBytes: number;
  readonly asset: Asset | undefined;
  readonly seconds: number;
}

export interface EngineResult {
  readonly workers: number;
  /** Of what as many sleepers could do if handing out work took no time. */
  readonly efficiency: number;
}

export async function measureEngine(fleet: Fleet, options: EngineOptions): Promise<EngineResult[]> {
  const { renderMs, asset, seconds, title } = options;
  const work = { asset, directory: fleet.directory };
  const rows = [[title, 'renders/s', 'of ideal', 'x one worker', 'ticket p50 ms', 'p99 ms', 'front CPU ms/render']];
  const results: EngineResult[] = [];
  let present = 0;
  let one = Number.NaN;
  for (const workers of SIZES) {
    await fleet.add(workers - present, options);
    present = workers;
    await fleet.sees(workers);
    // Twice as many callers as slots: a slot that becomes free finds a ticket on the queue.
    const { perSecond, cpuMs } = await throughput(fleet.front, work, workers * 2, seconds);
    // Fewer callers than slots: what a ticket takes when nothing stands in its way.
    fleet.waits.length = 0;
    await throughput(fleet.front, work, Math.max(1, Math.floor(workers / 2)), seconds / 2);
    const efficiency = (perSecond * renderMs) / 1_000 / workers;
    if (workers === 1) one = perSecond;
    results.push({ workers, efficiency });
    rows.push([
      `${workers} workers`,
      fixed(perSecond, 1),
      `${fixed(efficiency * 100, 1)} %`,
      fixed(perSecond / one, 2),
      fixed(percentile(fleet.waits, 0.5), 1),
      fixed(percentile(fleet.waits, 0.99), 1),
      fixed(cpuMs, 2),
    ]);
  }
  await fleet.dismiss();
  console.log(`${formatTable(rows)}\n`);
  return results;
}
