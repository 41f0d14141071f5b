// Worker memory limits that fit into the memory limit of the container. Otherwise the kernel would kill workers, or the
// whole container, before the server notices that a worker takes too much.

import type { AssetKind } from '../media/sniff.ts';

export interface WorkerMemory {
  readonly workers: number;
  /** The limit of each worker. */
  readonly memoryBytes: number;
}

const MEGABYTE = 1024 ** 2;
/** Reserved for the server itself, but at most a quarter of everything. */
const SERVER_BYTES = 512 * MEGABYTE;
/** An idle worker takes half of this. */
const MIN_WORKER_BYTES = 256 * MEGABYTE;

/**
 * Returns the limits themselves if all workers fit. Otherwise, each shrinks in proportion, so that all of them together
 * fit.
 */
export function fitMemory(
  wanted: Readonly<Record<AssetKind, WorkerMemory>>,
  containerBytes: number | undefined,
): Readonly<Record<AssetKind, number>> {
  const total = Object.values(wanted).reduce((sum, { workers, memoryBytes }) => sum + workers * memoryBytes, 0);
  const available = containerBytes === undefined ? total : containerBytes - Math.min(SERVER_BYTES, containerBytes / 4);
  const share = total > available ? available / total : 1;
  const fit = ({ memoryBytes }: WorkerMemory): number =>
    Math.min(memoryBytes, Math.max(MIN_WORKER_BYTES, Math.floor((memoryBytes * share) / MEGABYTE) * MEGABYTE));
  return { image: fit(wanted.image), video: fit(wanted.video) };
}
