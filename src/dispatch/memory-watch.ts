// Looks how much memory a worker takes while it works, because the kernel's own limits count what is asked for and not
// what is used.

import { innermostProcess, residentBytes } from '../media/process-tree.ts';

/** Most renders are over before the first look, and cost nothing. */
const LOOK_EVERY_MS = 200;

/** Calls back once, when the process takes more than the limit. Returns how to stop. */
export function watchMemory(pid: number, limitBytes: number, onExceeded: () => void): () => void {
  let watched: number | undefined;
  const timer = setInterval(() => {
    watched ??= innermostProcess(pid);
    if (watched === undefined) return;
    const bytes = residentBytes(watched);
    if (bytes === undefined || bytes <= limitBytes) return;
    clearInterval(timer);
    onExceeded();
  }, LOOK_EVERY_MS);
  return () => clearInterval(timer);
}
