import type { ChildProcess } from 'node:child_process';

/** A process that survives its parent may hold its output open. */
const OUTPUT_TIMEOUT_MS = 5_000;

export interface Exit {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
}

/** Resolves when a process has ended and its output has arrived, which may take longer than its end. */
export async function exitOf(child: ChildProcess): Promise<Exit> {
  return await new Promise((resolve) => {
    child.once('close', (code, signal) => resolve({ code, signal }));
    child.once('exit', (code, signal) => {
      setTimeout(() => resolve({ code, signal }), OUTPUT_TIMEOUT_MS).unref();
    });
  });
}
