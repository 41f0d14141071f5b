// Clients that go away: while they upload, while we render, while they download. The work must stop, and nobody pays.

import { setTimeout as wait } from 'node:timers/promises';
import { until } from '../../../test/running-server.ts';
import { milliseconds, quantile } from '../figures.ts';
import { read } from '../invariants.ts';
import { slowForm, smallForm } from '../payloads.ts';
import { effortOf } from '../processes.ts';
import type { Scenario, Stage, World } from '../world.ts';

const FREED_MS = 250;
/** No tick of its clock and no thread that wants one for so long: the processor is free. */
const QUIET_MS = 120;

export const disconnects: Scenario = {
  name: 'disconnects',
  about: 'clients that leave at random moments; how soon the processor is free',
  run: async (world) => {
    const [small, slow] = await Promise.all([smallForm(), slowForm()]);
    const settings = { STORYBAR_WORKERS: '1', STORYBAR_LOG_LEVEL: 'warn' };
    await world.on({ accounts: 3, settings }, async (stage) => {
      const [uploading, rendering, anywhere] = stage.subject.holders;
      const freed: number[] = [];
      for (let round = 0; round < world.choose(8, 50); round += 1) {
        freed.push(await leaveDuringRender(stage, rendering?.key ?? '', slow));
      }
      const worst = quantile(freed, 1);
      const median = milliseconds(quantile(freed, 0.5));
      const target = { target: `<= ${FREED_MS} ms`, met: worst <= FREED_MS };
      world.figure(`processor free, worst of ${freed.length} (p50 ${median})`, milliseconds(worst), target);
      await leaveAnywhere(world, stage, anywhere?.key ?? '', small);
      for (let round = 0; round < 20; round += 1) await leaveDuringUpload(stage, uploading?.key ?? '', slow);
      const statement = "select account_id as account from renders where state = 'settled'";
      const paid = read(stage.subject, statement).filter(({ account }) => account !== anywhere?.accountId);
      world.none('paid by those who left in upload or render', paid.length);
      return { unsure: new Set([anywhere?.accountId ?? '']) };
    });
  },
};

/** How long the worker went on after its caller had left. */
async function leaveDuringRender({ subject, ask }: Stage, key: string, body: Buffer): Promise<number> {
  // The one of the round before may be about to be replaced.
  await wait(2 * QUIET_MS);
  await subject.allReady();
  const [worker = 0] = await until(() => subject.workers('image'));
  const client = new AbortController();
  const before = effortOf(worker)?.cpuMs ?? 0;
  const answer = ask({ key, body, signal: client.signal });
  // Well inside the render: the probe takes next to nothing.
  await until(() => (effortOf(worker)?.cpuMs ?? 0) > before + 150);
  client.abort();
  const left = performance.now();
  let lastSign = left;
  let seen = 0;
  while (performance.now() - lastSign < QUIET_MS) {
    const effort = effortOf(worker);
    if (effort === undefined) break;
    if (effort.runs || effort.cpuMs > seen) lastSign = performance.now();
    seen = effort.cpuMs;
    await wait(5);
  }
  await answer;
  return lastSign - left;
}

async function leaveAnywhere(world: World, { ask, subject }: Stage, key: string, body: Buffer): Promise<void> {
  await subject.allReady();
  const total = world.choose(100, 2_000);
  let left = 0;
  const client = async (): Promise<void> => {
    for (; left < total; left += 1) await ask({ key, body, signal: AbortSignal.timeout(1 + world.random.whole(150)) });
  };
  await Promise.all([client(), client(), client(), client()]);
  world.figure('left at random moments', String(total));
}

async function leaveDuringUpload({ ask }: Stage, key: string, body: Buffer): Promise<void> {
  // Announces more than it sends.
  const headers = { 'content-length': String(body.length + 1_000_000) };
  await ask({ key, body, headers, signal: AbortSignal.timeout(40) });
}
