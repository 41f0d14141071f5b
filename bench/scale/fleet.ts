// The worker processes of the benchmark, and a renderer in this process that gives them work.

import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { RemoteRenderer } from '../../src/service/dispatch/remote/api-server/remote-renderer.ts';
import { until } from '../../test/running-server.ts';

const SLEEPER = path.join(import.meta.dirname, 'sleeping-worker.ts');

interface Sleeper {
  readonly child: ChildProcess;
  isBusy(): Promise<boolean>;
}

export interface Fleet {
  readonly directory: string;
  readonly apiServer: RemoteRenderer;
  /** Milliseconds until each ticket was claimed, since the list was last cleared. */
  readonly waits: number[];
  /** Resolves when the API server knows this many slots. */
  waitForSlots(slots: number): Promise<void>;
  /** Starts workers whose renders only sleep. */
  add(count: number, work: { readonly renderMs: number; readonly outputBytes: number }): Promise<Sleeper[]>;
  stopWorkers(): Promise<void>;
  stop(): Promise<void>;
}

export async function startFleet(natsUrl: string): Promise<Fleet> {
  const directory = mkdtempSync(path.join(tmpdir(), 'storybar-bench-'));
  const waits: number[] = [];
  const children = new Set<ChildProcess>();
  const apiServer = await RemoteRenderer.start({
    version: '1.0.0',
    queue: { url: natsUrl, credentialsFile: '', authoritiesFile: '', replicas: 1 },
    listen: { host: '127.0.0.1', port: 0 },
    urlOf: (port) => `http://127.0.0.1:${port}`,
    maxWaiting: 1_000,
    longestMs: 600_000,
    maxOutputBytes: 100_000_000,
    onError: (error) => console.error(error),
    onEvent: (event) => event.type === 'claimed' && waits.push(event.waitedMs),
  });
  const stopWorkers = async (): Promise<void> => {
    await Promise.all([...children].map(end));
    children.clear();
    await until(() => apiServer.status().images.ready === 0);
  };
  return {
    directory,
    apiServer,
    waits,
    stopWorkers,
    waitForSlots: async (slots) => {
      await until(() => apiServer.status().images.ready === slots, 60_000);
    },
    add: async (count, { renderMs, outputBytes }) =>
      await Promise.all(
        Array.from({ length: count }, async () => {
          const args = [natsUrl, path.join(directory, 'work'), String(renderMs), String(outputBytes)];
          const child = fork(SLEEPER, args, { execArgv: ['--import', 'tsx'] });
          children.add(child);
          const [first] = (await Promise.race([once(child, 'message'), once(child, 'exit')])) as [unknown];
          if (first !== 'connected') throw new Error('a sleeping worker failed to start');
          return { child, isBusy: async () => await queryBusy(child) };
        }),
      ),
    stop: async () => {
      await stopWorkers();
      await apiServer.close();
      rmSync(directory, { recursive: true, force: true });
    },
  };
}

async function queryBusy(child: ChildProcess): Promise<boolean> {
  child.send('busy?');
  const [busy] = (await once(child, 'message')) as [number];
  return busy > 0;
}

async function end(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const exited = once(child, 'exit');
  child.kill('SIGKILL');
  await exited;
}
