// The renderer of this machine: pools of worker processes in the strongest sandbox that the machine offers.

import { randomUUID } from 'node:crypto';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { type ClusterSettings, type Settings, SettingsError, type WorkerSettings } from '../service/config/settings.ts';
import { totalmem } from 'node:os';
import { fitMemory, largestPhoto, type PoolMemory, type WorkerMemory } from '../service/dispatch/fit-memory.ts';
import { WorkerDirectory } from '../service/dispatch/worker-directory.ts';
import { type EndedTask, type LostWorker, WorkerPool } from '../service/dispatch/worker-pool.ts';
import type { WorkerLost } from '../service/dispatch/worker.ts';
import { AppError } from '../shared/errors.ts';
import { LocalRenderer } from '../service/dispatch/local-renderer.ts';
import { chooseSandbox, type SandboxChoice } from '../service/dispatch/sandbox/choose.ts';
import type { ResourceLimits } from '../service/dispatch/sandbox/limits.ts';
import { GUARDS, type Sandbox } from '../service/dispatch/sandbox/sandbox.ts';
import { messageOf } from '../shared/error-facts.ts';
import { WorkArea } from '../engine/media/work-area.ts';
import type { HealthReport } from '../service/telemetry/health.ts';
import type { Logger } from '../service/telemetry/logger.ts';
import type { Metrics } from '../service/telemetry/metrics.ts';

/**
 * Decoded pixels count as external memory, and V8 starts a garbage collection when they outgrow a small heap, which
 * happens in most renders of an image worker. An initial old space of 64 MB makes room for several renders. See
 * docs/tricks.md for what it saves.
 */
const NODE_FLAGS = { image: ['--initial-old-space-size=64'], video: [] } as const;
const WORKER_FILE = fileURLToPath(new URL('worker.js', import.meta.url));
const SANDBOX_TRIAL_FILE = fileURLToPath(new URL('sandbox-trial.js', import.meta.url));
const PACKAGE_ROOT = fileURLToPath(new URL('../..', import.meta.url)).replace(/\/$/u, '');

export interface LocalWorkers {
  readonly renderer: LocalRenderer;
  /** The workers that fit into memory, without the one for short videos. */
  readonly slots: { readonly image: number; readonly video: number };
  readonly sandbox: HealthReport['sandbox'];
  close(): Promise<void>;
}

/** The settings of the workers of this machine. */
export type LocalWorkerSettings = WorkerSettings & Pick<Settings, 'dataDirectory' | 'natsUrl'>;

type SandboxSettings = Pick<Settings, 'sandbox' | 'searchPath' | 'dataDirectory' | 'workerMemory' | 'outputBytes'>;

type FittedSettings = LocalWorkerSettings & { readonly shortVideoWorkers: number };

/** The directories are on the same file system as the uploads, so that files are renamed and not copied. */
export async function openWorkerDirectories(dataDirectory: string): Promise<WorkArea> {
  return await WorkArea.open(path.join(dataDirectory, 'work'), '-workers');
}

export async function chooseLocalSandbox(settings: SandboxSettings, directories: WorkArea): Promise<SandboxChoice> {
  return await chooseSandbox({
    mode: settings.sandbox,
    searchPath: settings.searchPath,
    dataDirectory: settings.dataDirectory,
    packageRoot: PACKAGE_ROOT,
    trialFile: SANDBOX_TRIAL_FILE,
    directories,
    limits: { memoryBytes: settings.workerMemory, fileBytes: settings.outputBytes },
  });
}

export async function startLocalWorkers(
  wanted: LocalWorkerSettings,
  logger: Logger,
  metrics: Metrics,
): Promise<LocalWorkers> {
  const settings = withFittingMemory(wanted, logger);
  const directories = await openWorkerDirectories(settings.dataDirectory);
  const { sandbox, faults } = await chooseLocalSandbox(settings, directories);
  if (sandbox === undefined) {
    await directories.close();
    const reasons = faults.map(({ level, fault }) => `${level}: ${fault}`).join('; ');
    throw new SettingsError([
      `STORYBAR_SANDBOX is ${settings.sandbox}, which this machine doesn't support (${reasons})`,
    ]);
  }
  const { level } = sandbox;
  const guards = GUARDS[level];
  const entry = { sandbox: { level, mode: settings.sandbox, guards, faults } };
  // There are faults only if a stronger level was tried, not if the operator chose this one.
  if (faults.length > 0)
    logger.warn(entry, `stronger sandbox unavailable, render workers run at sandbox level ${level}`);
  else logger.info(entry, `render workers run at sandbox level ${level}`);
  metrics.dependencies.sandbox(level);
  const renderer = startRenderer(settings, sandbox, directories, { logger, metrics });
  return {
    renderer,
    slots: { image: settings.workers, video: settings.videoWorkers },
    sandbox: { level, guards },
    close: async () => {
      await renderer.close();
      await directories.close();
    },
  };
}

/** Starts fewer workers, and reduces their memory limits, if they don't fit into the memory limit of this process's cgroup. */
function withFittingMemory(settings: LocalWorkerSettings, logger: Logger): FittedSettings {
  const limit = process.constrainedMemory();
  const containerBytes = limit > 0 && limit < totalmem() ? limit : undefined;
  const { workers, videoWorkers, workerMemory, videoWorkerMemory } = settings;
  const wanted = {
    image: { workers, memoryBytes: workerMemory },
    video: { workers: videoWorkers + videosForShort(settings), memoryBytes: videoWorkerMemory },
  };
  const { image, video } = fitMemory(wanted, containerBytes);
  const shortVideoWorkers = Math.min(videosForShort(settings), Math.max(0, video.workers - 1));
  const fitted = {
    ...settings,
    workers: image.workers,
    videoWorkers: video.workers - shortVideoWorkers,
    workerMemory: image.memoryBytes,
    videoWorkerMemory: video.memoryBytes,
    shortVideoWorkers,
  };
  const isReduced = image.workers < wanted.image.workers || video.workers < wanted.video.workers;
  if (isReduced || fitted.workerMemory < workerMemory || fitted.videoWorkerMemory < videoWorkerMemory) {
    const facts = {
      containerMb: megabytes(containerBytes ?? 0),
      wanted: shown(wanted),
      started: shown({ image, video }),
    };
    const message = 'container memory limit too small for all workers, started fewer or with less memory';
    logger.warn({ ...facts, photosFitUpToMegapixels: largestPhoto(image.memoryBytes) }, message);
  }
  return fitted;
}

function shown({ image, video }: PoolMemory): object {
  const show = ({ workers, memoryBytes }: WorkerMemory): object => ({ workers, memoryMb: megabytes(memoryBytes) });
  return { image: show(image), video: show(video) };
}

function megabytes(bytes: number): number {
  return Math.round(bytes / 1024 ** 2);
}

function startRenderer(
  settings: FittedSettings,
  sandbox: Sandbox,
  directories: WorkArea,
  { logger, metrics }: { logger: Logger; metrics: Metrics },
): LocalRenderer {
  const pool = (kind: 'image' | 'video', workers: number, limits: ResourceLimits, workersForShort = 0): WorkerPool =>
    new WorkerPool({
      kind,
      createSpec: async () => {
        const { path: directory } = await directories.directory(randomUUID());
        const program = { file: process.execPath, args: [...NODE_FLAGS[kind], WORKER_FILE, kind] };
        return {
          start: sandbox.start(program, directory, limits),
          directory: new WorkerDirectory(directory, sandbox.pathInside(directory)),
          memoryBytes: limits.memoryBytes,
        };
      },
      workers,
      workersForShort,
      maxWaiting: settings.queueLength,
      tasksPerWorker: settings.workerTasks,
      onWaited: (milliseconds) => metrics.waited(kind, milliseconds),
      onTaskEnded: (task) => logTask(task, kind, logger),
      onWorkerLost: (lost, worker) => logLoss(lost, worker, kind, logger),
      onDirectoryError: (error) => logger.error({ kind, err: error }, 'failed to create or remove worker directory'),
    });
  const { workers, videoWorkers, workerMemory, videoWorkerMemory, outputBytes: fileBytes } = settings;
  return new LocalRenderer({
    image: pool('image', workers, { memoryBytes: workerMemory, fileBytes }),
    video: pool('video', videoWorkers, { memoryBytes: videoWorkerMemory, fileBytes }, settings.shortVideoWorkers),
  });
}

/**
 * Workers of a fleet take tickets for as many renders as they announce, so an additional worker would never be used.
 */
function videosForShort({ natsUrl }: Pick<ClusterSettings, 'natsUrl'>): number {
  return natsUrl === '' ? 1 : 0;
}

/**
 * Renders are logged at level info, and successful probes at level debug, because a probed asset is nearly always
 * rendered.
 */
function logTask(task: EndedTask, kind: 'image' | 'video', logger: Logger): void {
  const { type, ms, waitedMs, error, isCanceled, ...ids } = task;
  const entry = { ...ids, kind, ms: Math.round(ms), waitedMs: Math.round(waitedMs) };
  const isRender = type === 'render';
  if (error === undefined) {
    if (isRender) logger.info(entry, 'render completed');
    else logger.debug(entry, 'probe completed');
    return;
  }
  const code = error instanceof AppError ? error.code : undefined;
  const detail = messageOf(error);
  if (isCanceled) logger.info({ ...entry, code, detail }, isRender ? 'render canceled' : 'probe canceled');
  else if (code !== undefined) logger.info({ ...entry, code, detail }, isRender ? 'render failed' : 'probe failed');
  // This is a bug in the worker.
  else logger.warn({ ...entry, err: error }, isRender ? 'render failed' : 'probe failed');
}

function logLoss({ exit, killReason }: WorkerLost, worker: LostWorker, kind: 'image' | 'video', logger: Logger): void {
  const entry = { ...worker, kind, exit, killReason };
  if (killReason === 'was busy when canceled') logger.info(entry, 'render worker killed, its render was canceled');
  else if (killReason === 'gave way to another account')
    logger.info(entry, 'render gave way to another account, starting it again later');
  else logger.warn(entry, 'render worker exited unexpectedly, starting another');
}
