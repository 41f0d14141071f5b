// Measures how dispatching scales: one to sixteen workers of one slot each, whose renders only sleep.

import type { Asset } from '../../src/engine/media/asset.ts';
import { fixed, formatTable } from '../image/table.ts';
import type { Fleet } from './fleet.ts';
import { percentile, throughput } from './load.ts';

const SIZES = [1, 2, 3, 4, 8, 16] as const;

export interface DispatchOptions {
  readonly title: string;
  readonly renderMs: number;
  readonly outputBytes: number;
  readonly asset: Asset | undefined;
  readonly seconds: number;
}

export interface DispatchResult {
  readonly workers: number;
  /** The throughput relative to workers that get their work immediately. */
  readonly efficiency: number;
}

export async function measureDispatch(fleet: Fleet, options: DispatchOptions): Promise<DispatchResult[]> {
  const { renderMs, asset, seconds, title } = options;
  const work = { asset, directory: fleet.directory };
  const rows = [
    [title, 'renders/s', 'of ideal', 'x one worker', 'ticket p50 ms', 'p99 ms', 'API server CPU ms/render'],
  ];
  const results: DispatchResult[] = [];
  let present = 0;
  let one = Number.NaN;
  for (const workers of SIZES) {
    await fleet.add(workers - present, options);
    present = workers;
    await fleet.waitForSlots(workers);
    // There are twice as many clients as slots, so a slot that becomes free finds a ticket on the queue.
    const { perSecond, cpuMs } = await throughput(fleet.apiServer, work, workers * 2, seconds);
    // There are fewer clients than slots, to measure how long an unobstructed ticket takes.
    fleet.waits.length = 0;
    await throughput(fleet.apiServer, work, Math.max(1, Math.floor(workers / 2)), seconds / 2);
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
  await fleet.stopWorkers();
  console.log(`${formatTable(rows)}\n`);
  return results;
}
