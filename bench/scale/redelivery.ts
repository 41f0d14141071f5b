// Measures how much longer a client waits when the worker that has its render is killed or freezes.

import { fixed, formatTable } from '../image/table.ts';
import type { Fleet } from './fleet.ts';
import { percentile, renderOnce } from './load.ts';

const RENDER_MS = 500;
const TRIES = 5;

export interface RedeliveryResult {
  readonly killedMs: number;
  readonly frozenMs: number;
}

export async function measureRedelivery(fleet: Fleet): Promise<RedeliveryResult> {
  const killed = await measure(fleet, 'SIGKILL');
  const frozen = await measure(fleet, 'SIGSTOP');
  const row = (name: string, times: readonly number[]): string[] => [
    name,
    fixed(percentile(times, 0.5), 0),
    fixed(Math.max(...times), 0),
  ];
  console.log(
    `${formatTable([
      [`from the loss of a worker to the output, including a render of ${RENDER_MS} ms`, 'median ms', 'longest ms'],
      row('killed (kill -9)', killed),
      row('frozen (SIGSTOP)', frozen),
    ])}\n`,
  );
  return { killedMs: Math.max(...killed), frozenMs: Math.max(...frozen) };
}

async function measure(fleet: Fleet, signal: NodeJS.Signals): Promise<number[]> {
  const times: number[] = [];
  for (let round = 0; round < TRIES; round += 1) {
    const sleepers = await fleet.add(2, { renderMs: RENDER_MS, outputBytes: 1_000 });
    await fleet.waitForSlots(2);
    const rendered = renderOnce(fleet.apiServer, { asset: undefined, directory: fleet.directory });
    let victim: (typeof sleepers)[number] | undefined;
    while (victim === undefined) {
      const busy = await Promise.all(sleepers.map((sleeper) => sleeper.isBusy()));
      victim = sleepers[busy.indexOf(true)];
    }
    const started = performance.now();
    victim.child.kill(signal);
    await rendered;
    times.push(performance.now() - started);
    await fleet.stopWorkers();
  }
  return times;
}
