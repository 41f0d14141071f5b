// Makes the renderer of this machine: pools of worker processes, locked away as well as the machine can. For the server,
// and for whatever else renders here on behalf of strangers.

import { randomUUID } from 'node:crypto';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { type Settings, SettingsError } from '../config/settings.ts';
import { WorkerDirectory } from '../dispatch/worker-directory.ts';
import { WorkerPool } from '../dispatch/worker-pool.ts';
import { LocalRenderer } from '../dispatch/local-renderer.ts';
import { chooseSandbox, type SandboxChoice } from '../dispatch/sandbox/choose.ts';
import type { ResourceLimits } from '../dispatch/sandbox/limits.ts';
import { PROMISES, type Sandbox } from '../dispatch/sandbox/sandbox.ts';
import { WorkArea } from '../media/work-area.ts';
import type { HealthReport } from '../telemetry/health.ts';
import type { Logger } from '../telemetry/logger.ts';
import type { Metrics } from '../telemetry/metrics.ts';

/**
 * Pixels count against the collector's limits, and for a heap as small as a worker's these are so low that it would run in
 * most renders: 64 MB is room for several, at a tenth of their time.
 */
const ENGINE_FLAGS = { image: ['--initial-old-space-size=64'], video: [] } as const;
const WORKER_FILE = fileURLToPath(new URL('worker.js', import.meta.url));
const ESCAPE_FILE = fileURLToPath(new URL('escape.js', import.meta.url));
const PACKAGE_ROOT = fileURLToPath(new URL('../..', import.meta.url)).replace(/\/$/u, '');

export interface LocalWorkers {
  readonly renderer: LocalRenderer;
  readonly sandbox: HealthReport['sandbox'];
  close(): Promise<void>;
}

type SandboxSettings = Pick<Settings, 'sandbox' | 'searchPath' | 'dataDirectory' | 'workerMemory' | 'outputBytes'>;

/** Beside the uploads, on the same disk: files change places by name, not by copy. */
export async function openCells(dataDirectory: string): Promise<WorkArea> {
  return await WorkArea.open(path.join(dataDirectory, 'work'), '-cells');
}

export async function tryOutSandboxes(settings: SandboxSettings, cells: WorkArea): Promise<SandboxChoice> {
  return await chooseSandbox({
    mode: settings.sandbox,
    searchPath: settings.searchPath,
    dataDirectory: settings.dataDirectory,
    packageRoot: PACKAGE_ROOT,
    escapeFile: ESCAPE_FILE,
    cells,
    limits: { memoryBytes: settings.workerMemory, fileBytes: settings.outputBytes },
  });
}

export async function startLocalWorkers(settings: Settings, logger: Logger, metrics: Metrics): Promise<LocalWorkers> {
  const cells = await openCells(settings.dataDirectory);
  const { sandbox, faults } = await tryOutSandboxes(settings, cells);
  if (sandbox === undefined) {
    await cells.close();
    const reasons = faults.map(({ level, fault }) => `${level}: ${fault}`).join('; ');
    throw new SettingsError([
      `STORYBAR_SANDBOX is ${settings.sandbox}, which this machine does not offer (${reasons})`,
    ]);
  }
  const { level } = sandbox;
  const guards = PROMISES[level];
  const entry = { sandbox: { level, mode: settings.sandbox, guards, faults } };
  // A weaker level than there could be is worth a look; one the operator has chosen is not.
  if (faults.length > 0) logger.warn(entry, `render workers run at sandbox level ${level}`);
  else logger.info(entry, `render workers run at sandbox level ${level}`);
  const renderer = startRenderer(settings, sandbox, cells, { logger, metrics });
  return {
    renderer,
    sandbox: { level, guards },
    close: async () => {
      await renderer.close();
      await cells.close();
    },
  };
}

function startRenderer(
  settings: Settings,
  sandbox: Sandbox,
  cells: WorkArea,
  { logger, metrics }: { logger: Logger; metrics: Metrics },
): LocalRenderer {
  const pool = (kind: 'image' | 'video', workers: number, limits: ResourceLimits): WorkerPool =>
    new WorkerPool({
      createSpec: async () => {
        const { path: directory } = await cells.directory(randomUUID());
        const program = { file: process.execPath, args: [...ENGINE_FLAGS[kind], WORKER_FILE, kind] };
        return {
          start: sandbox.start(program, directory, limits),
          directory: new WorkerDirectory(directory, sandbox.cellInside(directory)),
          memoryBytes: limits.memoryBytes,
        };
      },
      workers,
      maxWaiting: settings.queueLength,
      tasksPerWorker: settings.workerTasks,
      onWaited: (milliseconds) => metrics.waited(kind, milliseconds),
      onWorkerLost: ({ exit, killReason }) => logger.warn({ kind, exit, killReason }, 'render worker lost, replaced'),
      onDirectoryError: (error) => logger.error({ kind, err: error }, 'directory of a render worker'),
    });
  const { workers, videoWorkers, workerMemory, videoWorkerMemory, outputBytes: fileBytes } = settings;
  return new LocalRenderer({
    image: pool('image', workers, { memoryBytes: workerMemory, fileBytes }),
    video: pool('video', videoWorkers, { memoryBytes: videoWorkerMemory, fileBytes }),
  });
}
