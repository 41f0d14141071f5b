// Worker processes of the benchmark, and a front in this process to give them work.

import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { RemoteRenderer } from '../../src/dispatch/remote/api-server/remote-renderer.ts';
import { until } from '../../test/running-server.ts';

const SLEEPER = path.join(import.meta.dirname, 'sleeping-worker.ts');

interface Sleeper {
  readonly child: ChildProcess;
  isBusy(): Promise<boolean>;
}

export interface Fleet {
  readonly directory: string;
  readonly front: RemoteRenderer;
  /** Milliseconds from a ticket to its taking, since they were last cleared. */
  readonly waits: number[];
  /** Until the front hears of as many slots. */
  sees(slots: number): Promise<void>;
  /** Adds sleeping workers. */
  add(count: number, work: { readonly renderMs: number; readonly outputBytes: number }): Promise<Sleeper[]>;
  dismiss(): Promise<void>;
  stop(): Promise<void>;
}

export async function startFleet(natsUrl: string): Promise<Fleet> {
  const directory = mkdtempSync(path.join(tmpdir(), 'storybar-bench-'));
  const waits: number[] = [];
  const children = new Set<ChildProcess>();
  const front = await RemoteRenderer.start({
    queue: { url: natsUrl, credentialsFile: '', authoritiesFile: '', replicas: 1 },
    listen: { host: '127.0.0.1', port: 0 },
    urlOf: (port) => `http://127.0.0.1:${port}`,
    maxWaiting: 1_000,
    longestMs: 600_000,
    onError: (error) => console.error(error),
    segmentSeconds: 0,
    onEvent: (event) => event.type === 'claimed' && waits.push(event.waitedMs),
  });
  const dismiss = async (): Promise<void> => {
    await Promise.all([...children].map(end));
    children.clear();
    await until(() => front.status().images.ready === 0);
  };
  return {
    directory,
    front,
    waits,
    dismiss,
    sees: async (slots) => {
      await until(() => front.status().images.ready === slots, 60_000);
    },
    add: async (count, { renderMs, outputBytes }) =>
      await Promise.all(
        Array.from({ length: count }, async () => {
          const args = [natsUrl, path.join(directory, 'work'), String(renderMs), String(outputBytes)];
          const child = fork(SLEEPER, args, { execArgv: ['--import', 'tsx'] });
          children.add(child);
          const [first] = (await Promise.race([once(child, 'message'), once(child, 'exit')])) as [unknown];
          if (first !== 'connected') throw new Error('a sleeping worker does not start');
          return { child, isBusy: async () => await askBusy(child) };
        }),
      ),
    stop: async () => {
      await dismiss();
      await front.close();
      rmSync(directory, { recursive: true, force: true });
    },
  };
}

async function askBusy(child: ChildProcess): Promise<boolean> {
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
