import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { WorkerDirectory } from '../../src/service/dispatch/worker-directory.ts';
import { WorkerPool } from '../../src/service/dispatch/worker-pool.ts';
import { LocalRenderer } from '../../src/service/dispatch/local-renderer.ts';

const WORKER_FILE = path.resolve(import.meta.dirname, '../../dist/main/worker.js');

export interface Pools {
  readonly renderer: LocalRenderer;
  stop(): Promise<void>;
}

/** Worker processes of the built program without a sandbox, one for images and one for videos. */
export function startPools(): Pools {
  const directory = mkdtempSync(path.join(tmpdir(), 'storybar-pools-'));
  let started = 0;
  const pool = (kind: 'image' | 'video'): WorkerPool =>
    new WorkerPool({
      kind,
      createSpec: async () => {
        started += 1;
        const workerDirectory = path.join(directory, String(started));
        mkdirSync(workerDirectory);
        return {
          start: { file: process.execPath, args: [WORKER_FILE, kind], env: {} },
          directory: new WorkerDirectory(workerDirectory, workerDirectory),
          memoryBytes: 4 * 1024 ** 3,
        };
      },
      workers: 1,
      maxWaiting: 8,
      tasksPerWorker: 2_000,
      onWaited: () => undefined,
      onTaskEnded: () => undefined,
      onWorkerLost: () => undefined,
      onDirectoryError: (error) => {
        throw error;
      },
    });
  const renderer = new LocalRenderer({ image: pool('image'), video: pool('video') });
  return {
    renderer,
    stop: async () => {
      await renderer.close();
      rmSync(directory, { recursive: true, force: true });
    },
  };
}
