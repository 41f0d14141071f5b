import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { RemoteRenderer } from '../../src/service/dispatch/remote/api-server/remote-renderer.ts';
import { WorkerNode } from '../../src/service/dispatch/remote/worker/worker-node.ts';
import type { Renderer } from '../../src/service/dispatch/renderer.ts';
import { WorkArea } from '../../src/engine/media/work-area.ts';
import { until } from '../running-server.ts';

export interface RemotePair {
  readonly apiServer: RemoteRenderer;
  stop(): Promise<void>;
}

async function startApiServer(natsUrl: string): Promise<RemoteRenderer> {
  return await RemoteRenderer.start({
    version: '1.0.0',
    queue: { url: natsUrl, credentialsFile: '', authoritiesFile: '', replicas: 1 },
    listen: { host: '127.0.0.1', port: 0 },
    urlOf: (port) => `http://127.0.0.1:${port}`,
    maxWaiting: 8,
    longestMs: 60_000,
    maxOutputBytes: 100_000_000,
    onError: () => undefined,
    onEvent: () => undefined,
  });
}

/** An API server's renderer and a worker in this process, connected by a real NATS server. */
export async function startPair(natsUrl: string, renderer: Renderer): Promise<RemotePair> {
  const directory = mkdtempSync(path.join(tmpdir(), 'storybar-pair-'));
  const workArea = await WorkArea.open(directory);
  const apiServer = await startApiServer(natsUrl);
  const worker = new WorkerNode({
    name: 'worker-1',
    version: '1.0.0',
    queue: { url: natsUrl, credentialsFile: '', authoritiesFile: '', replicas: 1 },
    slots: { image: 1, video: 1 },
    renderer,
    workArea,
    onError: () => undefined,
    onEvent: () => undefined,
  });
  await until(() => apiServer.isAvailable('image') && apiServer.isAvailable('video'));
  return {
    apiServer,
    stop: async () => {
      await apiServer.close();
      await worker.drain();
      rmSync(directory, { recursive: true, force: true });
    },
  };
}
