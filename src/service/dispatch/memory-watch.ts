// Watches the resident memory of a worker while it runs a task. The kernel's resource limits don't help here, because
// they count reserved address space, not memory in use.

import { innermostProcess, residentBytes } from '../../engine/media/process-tree.ts';

/** Most renders finish before the first check, so watching them costs nothing. */
const CHECK_INTERVAL_MS = 200;

/** Calls `onExceeded` once, when the process uses more memory than the limit. Returns a function that ends the watch. */
export function watchMemory(pid: number, limitBytes: number, onExceeded: () => void): () => void {
  let watched: number | undefined;
  const timer = setInterval(() => {
    // In a sandbox, the worker is a descendant of the process we started.
    watched ??= innermostProcess(pid);
    if (watched === undefined) return;
    const bytes = residentBytes(watched);
    if (bytes === undefined || bytes <= limitBytes) return;
    clearInterval(timer);
    onExceeded();
  }, CHECK_INTERVAL_MS);
  return () => clearInterval(timer);
}
