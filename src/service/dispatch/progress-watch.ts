// Decides whether a worker hangs or has used up its budget. Wall time alone can't tell, because a good render may take
// any time on a busy machine. A worker therefore counts as hung when it uses much processor time without progress, or
// makes no progress for long although the machine is idle. A task with a budget may use that much processor time.

import { cpus } from 'node:os';
import { processorMs } from '../../engine/media/process-tree.ts';

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
export function isHung(since: Reading, now: Reading, maxBusyMs = MAX_BUSY_MS): boolean {
  if (now.busyMs !== undefined && now.busyMs - (since.busyMs ?? now.busyMs) >= maxBusyMs) return true;
  const wallMs = now.at - since.at;
  const idlePart = (now.idleMs - since.idleMs) / (wallMs * now.processors);
  return wallMs >= MAX_WALL_MS && idlePart >= MIN_IDLE_PART;
}

export interface ProgressWatch {
  /** Records that the worker has made progress. */
  readonly progressed: () => void;
  /** Returns the processor time in milliseconds from the first check to the last one. */
  readonly usedMs: () => number;
  readonly stop: () => void;
}

interface WatchedTask {
  /** The processor time that the task may use. */
  readonly budgetMs: number | undefined;
  /** Called once, when the process hangs. */
  readonly onHung: () => void;
  /** Called once, when the task has used up its budget. */
  readonly onBudgetUsedUp: () => void;
}

export interface WatchOptions {
  readonly read?: (pid: number) => Reading;
  readonly checkMs?: number;
}

export function watchProgress(
  pid: number,
  { budgetMs, onHung, onBudgetUsedUp }: WatchedTask,
  { read = readNow, checkMs = CHECK_INTERVAL_MS }: WatchOptions = {},
): ProgressWatch {
  let since: Reading | undefined;
  let last: Reading | undefined;
  let usedMs = 0;
  const timer = setInterval(() => {
    const now = read(pid);
    since ??= now;
    // The time of children that have ended is missing in the next reading.
    usedMs += Math.max(0, (now.busyMs ?? 0) - (last?.busyMs ?? now.busyMs ?? 0));
    last = now;
    const isUsedUp = budgetMs !== undefined && usedMs >= budgetMs;
    if (!isUsedUp && !isHung(since, now, budgetMs)) return;
    clearInterval(timer);
    if (isUsedUp) onBudgetUsedUp();
    else onHung();
  }, checkMs);
  return {
    usedMs: () => usedMs,
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
