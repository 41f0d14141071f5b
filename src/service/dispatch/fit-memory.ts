// Workers and memory limits that fit into the memory limit of the container. Otherwise the kernel would kill workers, or the
// whole container, before the server notices that a worker takes too much.

import { PEAK_BYTES_PER_MEGAPIXEL } from '../../engine/media/memory-shortage.ts';
import type { AssetKind } from '../../engine/media/sniff.ts';

export interface WorkerMemory {
  readonly workers: number;
  /** The limit of each worker. */
  readonly memoryBytes: number;
}

export type PoolMemory = Readonly<Record<AssetKind, WorkerMemory>>;

const MEGABYTE = 1024 ** 2;
/** Reserved for the server itself, but at most a quarter of everything. */
const SERVER_BYTES = 512 * MEGABYTE;
/** An idle worker takes half of this. */
const MIN_WORKER_BYTES = 256 * MEGABYTE;
/** Enough for everything that plans allow; see the measured peaks in docs/hardening.md. */
const ENOUGH_BYTES: Readonly<Record<AssetKind, number>> = { image: 1_024 * MEGABYTE, video: 1_152 * MEGABYTE };
const IDLE_BYTES = 128 * MEGABYTE;
const MAX_MEGAPIXELS = 50;
const KINDS = ['image', 'video'] as const satisfies readonly AssetKind[];

/**
 * Returns what is wanted if it fits. Otherwise limits shrink, but first only as far as every asset still fits. Then fewer workers
 * start, at least one of each kind that is wanted. Only then do limits shrink further, and large assets don't fit any more.
 */
export function fitMemory(wanted: PoolMemory, containerBytes: number | undefined): PoolMemory {
  if (containerBytes === undefined) return wanted;
  const available = containerBytes - Math.min(SERVER_BYTES, containerBytes / 4);
  const enough = each(wanted, ({ memoryBytes }, kind) => Math.min(memoryBytes, ENOUGH_BYTES[kind]));
  const workers = { image: wanted.image.workers, video: wanted.video.workers };
  while (total(workers, enough) > available) {
    const kind = largest(workers, enough);
    if (workers[kind] <= 1) break;
    workers[kind] -= 1;
  }
  const limits = each(wanted, ({ memoryBytes }) => memoryBytes);
  const basis = total(workers, enough) > available ? enough : limits;
  const share = Math.min(1, available / Math.max(1, total(workers, basis)));
  const fit = (kind: AssetKind): WorkerMemory => {
    const shrunk = Math.floor((basis[kind] * share) / MEGABYTE) * MEGABYTE;
    const floor = basis === enough ? MIN_WORKER_BYTES : enough[kind];
    return { workers: workers[kind], memoryBytes: Math.min(limits[kind], Math.max(floor, shrunk)) };
  };
  return { image: fit('image'), video: fit('video') };
}

/** The largest photo, in megapixels, that certainly fits into the limit. Undefined if all do that plans allow. */
export function largestPhoto(memoryBytes: number): number | undefined {
  const megapixels = Math.max(1, Math.floor((memoryBytes - IDLE_BYTES) / PEAK_BYTES_PER_MEGAPIXEL));
  return megapixels >= MAX_MEGAPIXELS ? undefined : megapixels;
}

type Figures = Readonly<Record<AssetKind, number>>;

function each(pools: PoolMemory, figure: (pool: WorkerMemory, kind: AssetKind) => number): Figures {
  return { image: figure(pools.image, 'image'), video: figure(pools.video, 'video') };
}

function total(workers: Figures, bytes: Figures): number {
  return KINDS.reduce((sum, kind) => sum + workers[kind] * bytes[kind], 0);
}

/** The pool with the most workers beyond the first, because it loses least. */
function largest(workers: Figures, bytes: Figures): AssetKind {
  const spare = (kind: AssetKind): number => (workers[kind] - 1) * bytes[kind];
  return spare('video') > spare('image') ? 'video' : 'image';
}
