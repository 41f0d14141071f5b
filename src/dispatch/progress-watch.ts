// Decides whether a worker hangs. Wall time alone can't tell, because a good render may take any time on a busy
// machine. A worker therefore counts as hung when it uses much processor time without progress, or makes no progress
// for long although the machine is idle.

import { cpus } from 'node:os';
import { processorMs } from '../media/process-tree.ts';

/** The state of a worker and its machine. All times are in milliseconds. */
export interface Reading {
  readonly at: number;
  /** The processor time that the worker's processes have used. Undefined on systems without `/proc`. */
  readonly busyMs: number | undefined;
  /** The idle time of all processors of the machine together. */
  readonly idleMs: number;
  readonly processors: number;
}

const MAX_BUSY_MS = 30_000;
const MAX_WALL_MS = 300_000;
/** A part of all processors. If less of the machine is idle, the worker may just not have had its turn. */
const MIN_IDLE_PART = 0.1;
/** Most renders end before the first check, so watching them costs nothing. */
const CHECK_INTERVAL_MS = 2_000;

/** `since` is a reading at or after the worker's last progress. */
export function isHung(since: Reading, now: Reading): boolean {
  if (now.busyMs !== undefined && now.busyMs - (since.busyMs ?? now.busyMs) >= MAX_BUSY_MS) return true;
  const wallMs = now.at - since.at;
  const idlePart = (now.idleMs - since.idleMs) / (wallMs * now.processors);
  return wallMs >= MAX_WALL_MS && idlePart >= MIN_IDLE_PART;
}

export interface ProgressWatch {
  /** Records that the worker has made progress. */
  readonly progressed: () => void;
  readonly stop: () => void;
}

export interface WatchOptions {
  readonly read?: (pid: number) => Reading;
  readonly checkMs?: number;
}

/** Calls `onHung` once, when the process hangs. */
export function watchProgress(
  pid: number,
  onHung: () => void,
  { read = readNow, checkMs = CHECK_INTERVAL_MS }: WatchOptions = {},
): ProgressWatch {
  let since: Reading | undefined;
  const timer = setInterval(() => {
    const now = read(pid);
    since ??= now;
    if (!isHung(since, now)) return;
    clearInterval(timer);
    onHung();
  }, checkMs);
  return {
    // The next check takes the first reading after it, so even many reports cost nothing.
    progressed: () => {
      since = undefined;
    },
    stop: () => clearInterval(timer),
  };
}

function readNow(pid: number): Reading {
  const processors = cpus();
  return {
    at: performance.now(),
    busyMs: processorMs(pid),
    idleMs: processors.reduce((sum, { times }) => sum + times.idle, 0),
    processors: processors.length,
  };
}
