// Real renders on real worker programs. They and the API server share this machine's cores, so more workers than cores
// gain nothing here.

import type { Asset } from '../../src/engine/media/asset.ts';
import { type RunningWorker, startWorker } from '../../test/running-worker.ts';
import { fixed, formatTable } from '../image/table.ts';
import type { Fleet } from './fleet.ts';
import { throughput } from './load.ts';

const SIZES = [1, 2, 3, 4] as const;

export async function measureRealWorkers(natsUrl: string, fleet: Fleet, asset: Asset, seconds: number): Promise<void> {
  const workers: RunningWorker[] = [];
  const rows = [['real renders, photo 1080x1920', 'renders/s', 'x one worker']];
  let one = Number.NaN;
  try {
    for (const size of SIZES) {
      while (workers.length < size) workers.push(await startWorker(natsUrl));
      await fleet.waitForSlots(size);
      const { perSecond } = await throughput(fleet.apiServer, { asset, directory: fleet.directory }, size * 2, seconds);
      if (size === 1) one = perSecond;
      rows.push([`${size} workers`, fixed(perSecond, 1), fixed(perSecond / one, 2)]);
    }
  } finally {
    await Promise.all(workers.map((worker) => worker.stop()));
  }
  console.log(`${formatTable(rows)}\n`);
}
