// Reads what metrics show about the database and the disks. Scrapes get the latest reading, so they never wait for either.

import { statfs } from 'node:fs/promises';
import type { Settings } from '../service/config/settings.ts';
import { SPARE_BYTES } from '../service/renders/upload-budget.ts';
import type { BacklogReading } from '../service/store/backlog.ts';
import type { Store } from '../service/store/store.ts';
import type { Logger } from '../service/telemetry/logger.ts';
import type { Metrics } from '../service/telemetry/metrics.ts';
import { storageDirectory } from './open-storage.ts';
import { PeriodicTasks } from './periodic-tasks.ts';

const BACKLOG_MS = 5_000;
const DISK_MS = 10_000;

interface WatchOptions {
  readonly settings: Settings;
  readonly store: Pick<Store, 'backlog'>;
  readonly logger: Logger;
  readonly metrics: Metrics;
}

/** Call it when the directories exist. */
export async function watchResources({
  settings,
  store,
  logger,
  metrics,
}: WatchOptions): Promise<{ close(): Promise<void> }> {
  const tasks = new PeriodicTasks(logger, metrics.dependencies);
  let backlog: BacklogReading | undefined;
  metrics.watchBacklog(() => backlog);
  const readBacklog = async (): Promise<void> => {
    backlog = await store.backlog.read().catch((error: unknown) => {
      backlog = undefined;
      throw error;
    });
  };
  const storage = storageDirectory(settings);
  const places = { data: settings.dataDirectory, ...(storage !== undefined && { storage }) };
  const disk = await watchDisks(places, metrics);
  warnAboutDisk(disk.free, settings.dataDirectory, logger);
  await tasks.once('read the backlog', readBacklog);
  tasks.every(BACKLOG_MS, 'read the backlog', readBacklog);
  tasks.every(DISK_MS, 'read free disk space', async () => await disk.read());
  return { close: async () => tasks.stop() };
}

/** `places` are directories by what is kept there; they must exist. */
export async function watchDisks(
  places: Readonly<Record<string, string>>,
  { dependencies }: Metrics,
): Promise<{ readonly free: number; read(): Promise<void> }> {
  const readings = new Map<string, number>();
  const read = async (): Promise<void> => {
    for (const [place, directory] of Object.entries(places)) {
      const { bavail, bsize } = await statfs(directory);
      readings.set(place, bavail * bsize);
    }
  };
  await read();
  dependencies.watchDisks(SPARE_BYTES, () => readings);
  return { free: readings.get('data') ?? 0, read };
}

/** Says at the start that uploads are refused because the disk is nearly full. */
export function warnAboutDisk(freeBytes: number, directory: string, logger: Logger): void {
  if (freeBytes >= SPARE_BYTES) return;
  logger.error(
    { directory, freeBytes, reserveBytes: SPARE_BYTES },
    'disk space below the reserve, uploads are refused',
  );
}
