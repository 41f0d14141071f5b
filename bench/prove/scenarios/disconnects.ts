// Clients disconnect during the upload, the render and the download. The server must stop the work and charge nothing.

import { setTimeout as wait } from 'node:timers/promises';
import { until } from '../../../test/running-server.ts';
import { milliseconds, quantile } from '../figures.ts';
import { query } from '../invariants.ts';
import { slowForm, smallForm } from '../payloads.ts';
import { cpuOf } from '../processes.ts';
import type { Fixture, Scenario, World } from '../world.ts';

const MAX_BUSY_MS = 250;
/** The CPU counts as free when the worker used none of it, and no thread asked for it, for this long. */
const QUIET_MS = 120;

export const disconnects: Scenario = {
  name: 'disconnects',
  about: 'clients disconnect at random moments; measures how soon the CPU is free',
  run: async (world) => {
    const [small, slow] = await Promise.all([smallForm(), slowForm()]);
    const settings = { STORYBAR_WORKERS: '1', STORYBAR_LOG_LEVEL: 'warn' };
    await world.withServer({ accounts: 3, settings }, async (fixture) => {
      const { subject } = fixture;
      const [uploading, rendering, anytime] = [subject.account(0), subject.account(1), subject.account(2)];
      const busyMs: number[] = [];
      for (let round = 0; round < world.choose(8, 50); round += 1) {
        busyMs.push(await disconnectDuringRender(fixture, rendering.key, slow));
      }
      const worst = quantile(busyMs, 1);
      const median = milliseconds(quantile(busyMs, 0.5));
      const target = { target: `<= ${MAX_BUSY_MS} ms`, met: worst <= MAX_BUSY_MS };
      world.figure(`CPU free, worst of ${busyMs.length} (p50 ${median})`, milliseconds(worst), target);
      await disconnectAnytime(world, fixture, anytime.key, small);
      for (let round = 0; round < 20; round += 1) await disconnectDuringUpload(fixture, uploading.key, slow);
      const statement = "select account_id as account from holds where state = 'settled'";
      const charged = query(subject, statement).filter(({ account }) => account !== anytime.accountId);
      world.none('charges after disconnects during upload or render', charged.length);
      return { uncertain: new Set([anytime.accountId]) };
    });
  },
};

/** Returns how many milliseconds the worker kept running after the client disconnected. */
async function disconnectDuringRender({ subject, request }: Fixture, key: string, body: Buffer): Promise<number> {
  // The worker of the previous round may be about to be replaced.
  await wait(2 * QUIET_MS);
  await subject.waitUntilReady();
  const worker = await until(() => subject.workers('image')[0]);
  const client = new AbortController();
  const before = cpuOf(worker)?.cpuMs ?? 0;
  const response = request({ key, body, signal: client.signal });
  // This much CPU time is well inside the render, because the probe takes almost none.
  await until(() => (cpuOf(worker)?.cpuMs ?? 0) > before + 150);
  client.abort();
  const disconnectedAt = performance.now();
  let lastBusyAt = disconnectedAt;
  let lastCpuMs = 0;
  while (performance.now() - lastBusyAt < QUIET_MS) {
    const state = cpuOf(worker);
    if (state === undefined) break;
    if (state.isRunnable || state.cpuMs > lastCpuMs) lastBusyAt = performance.now();
    lastCpuMs = state.cpuMs;
    await wait(5);
  }
  await response;
  return lastBusyAt - disconnectedAt;
}

async function disconnectAnytime(
  world: World,
  { request, subject }: Fixture,
  key: string,
  body: Buffer,
): Promise<void> {
  await subject.waitUntilReady();
  const total = world.choose(100, 2_000);
  let sent = 0;
  const client = async (): Promise<void> => {
    for (; sent < total; sent += 1)
      await request({ key, body, signal: AbortSignal.timeout(1 + world.random.whole(150)) });
  };
  await Promise.all([client(), client(), client(), client()]);
  world.figure('disconnects at random moments', String(total));
}

async function disconnectDuringUpload({ request }: Fixture, key: string, body: Buffer): Promise<void> {
  // The declared length exceeds the body, so the upload never completes.
  const headers = { 'content-length': String(body.length + 1_000_000) };
  await request({ key, body, headers, signal: AbortSignal.timeout(40) });
}
