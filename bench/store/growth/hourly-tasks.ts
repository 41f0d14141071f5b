// Runs the hourly tasks of a server at a chosen moment: its housekeeping starts with timers that only this file fires.

import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { Writable } from 'node:stream';
import pino from 'pino';
import { Housekeeping } from '../../../src/main/housekeeping.ts';
import { Refusals } from '../../../src/service/renders/refusals.ts';
import { ReplayCache } from '../../../src/service/renders/replay-cache.ts';
import { RequestLogWriter } from '../../../src/service/store/requests/request-log-writer.ts';
import type { Store } from '../../../src/service/store/store.ts';
import { Metrics } from '../../../src/service/telemetry/metrics.ts';

const HOUR_MS = 3_600_000;
const KEEP_RENDERS_DAYS = 90;

export interface HourlyTasks {
  /** The names of tasks that failed, with their errors. */
  readonly failures: readonly string[];
  /** Starts all tasks at once, as the timers of a server do, and waits until all have ended. */
  run(): Promise<void>;
  remove(): Promise<void>;
}

export async function hourlyTasks(store: Store): Promise<HourlyTasks> {
  const folder = mkdtempSync(path.join(tmpdir(), 'storybar-growth-'));
  const failures: string[] = [];
  const metrics = new Metrics('bench').dependencies;
  let ended = 0;
  metrics.taskEnded = () => {
    ended += 1;
  };
  const housekeeping = new Housekeeping({
    store,
    refusals: new Refusals(store.usage),
    requestLog: new RequestLogWriter(store.requests),
    replayCache: await ReplayCache.open(folder, 1_000),
    logger: pino({}, collect(failures)),
    metrics,
    keepRendersDays: KEEP_RENDERS_DAYS,
    embedded: false,
  });
  const timers = await capturedTimers(async () => await housekeeping.start());
  return {
    failures,
    run: async () => {
      ended = 0;
      for (const fire of timers) fire();
      while (ended < timers.length) await new Promise((resolve) => setTimeout(resolve, 5));
    },
    remove: async () => {
      await housekeeping.stop();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

/** Returns the callbacks that `start` wants to be called every hour. Others are never called. */
async function capturedTimers(start: () => Promise<void>): Promise<(() => void)[]> {
  const { setInterval: original } = globalThis;
  const fired: (() => void)[] = [];
  const capture = (callback: () => void, milliseconds?: number): NodeJS.Timeout => {
    if (milliseconds === HOUR_MS) fired.push(callback);
    return original(() => undefined, HOUR_MS).unref();
  };
  globalThis.setInterval = capture;
  try {
    await start();
  } finally {
    globalThis.setInterval = original;
  }
  return fired;
}

function collect(failures: string[]): Writable {
  return new Writable({
    write: (chunk, _encoding, done) => {
      const { task, err, msg } = JSON.parse(String(chunk)) as { task?: string; err?: { message: string }; msg: string };
      failures.push([task, msg, err?.message].filter(Boolean).join(': '));
      done();
    },
  });
}
