import { mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { RemoteRenderer } from '../../src/dispatch/remote/api-server/remote-renderer.ts';
import { WorkerNode } from '../../src/dispatch/remote/worker/worker-node.ts';
import type { Renderer } from '../../src/dispatch/renderer.ts';
import { WorkArea } from '../../src/media/work-area.ts';
import { until } from '../running-server.ts';

export interface RemotePair {
  readonly front: RemoteRenderer;
  readonly worker: WorkerNode;
  /** What lies in the worker's work area right now. */
  leftovers(): string[];
  readonly errors: unknown[];
  stop(): Promise<void>;
}

async function startFront(natsUrl: string, errors: unknown[] = []): Promise<RemoteRenderer> {
  return await RemoteRenderer.start({
    queue: { url: natsUrl, credentialsFile: '', authoritiesFile: '', replicas: 1 },
    listen: { host: '127.0.0.1', port: 0 },
    urlOf: (port) => `http://127.0.0.1:${port}`,
    maxWaiting: 8,
    longestMs: 60_000,
    segmentSeconds: 0,
    onError: (error) => errors.push(error),
    onEvent: () => undefined,
  });
}

/** A front and a worker in this process, talking over a real broker. */
export async function startPair(natsUrl: string, renderer: Renderer): Promise<RemotePair> {
  const directory = mkdtempSync(path.join(tmpdir(), 'storybar-pair-'));
  const workArea = await WorkArea.open(directory);
  const errors: unknown[] = [];
  const front = await startFront(natsUrl, errors);
  const worker = new WorkerNode({
    queue: { url: natsUrl, credentialsFile: '', authoritiesFile: '', replicas: 1 },
    slots: { image: 1, video: 1 },
    renderer,
    workArea,
    onError: (error) => errors.push(error),
    onEvent: () => undefined,
  });
  await until(() => front.isAvailable('image') && front.isAvailable('video'));
  return {
    front,
    worker,
    errors,
    leftovers: () => readdirSync(path.join(directory, String(process.pid))),
    stop: async () => {
      await front.close();
      await worker.drain();
      rmSync(directory, { recursive: true, force: true });
    },
  };
}
