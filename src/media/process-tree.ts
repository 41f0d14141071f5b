// What the kernel says about a process we started and those it started in turn. Linux only; elsewhere nothing is known.

import { readFileSync, writeFileSync } from 'node:fs';

/** Past the programs that only wrap: a worker's parents in a sandbox wait and hold nothing. */
export function innermostProcess(pid: number): number | undefined {
  const children = childrenOf(pid);
  const [only, ...more] = children ?? [];
  if (only === undefined || more.length > 0) return children && pid;
  return innermostProcess(only);
}

/**
 * Memory in use, in bytes; undefined when the process is gone or cannot be looked at. No disk is behind these files, and a
 * turn through the thread pool for each of the four calls takes many times as long as they do.
 */
export function residentBytes(pid: number): number | undefined {
  const status = read(`/proc/${pid}/status`) ?? '';
  const kilobytes = /^VmRSS:\s+(?<kilobytes>\d+) kB$/mu.exec(status)?.groups?.['kilobytes'];
  return kilobytes === undefined ? undefined : Number(kilobytes) * 1024;
}

/** When the whole machine runs out of memory, the kernel takes this process first, and not the server. */
export function raiseOomScore(pid: number): void {
  try {
    writeFileSync(`/proc/${pid}/oom_score_adj`, '1000');
  } catch {
    // Gone already, or a kernel without such a thing: then the kernel chooses by size, which mostly is the same one.
  }
}

function childrenOf(pid: number): number[] | undefined {
  return read(`/proc/${pid}/task/${pid}/children`)?.split(' ').filter(Boolean).map(Number);
}

function read(file: string): string | undefined {
  try {
    return readFileSync(file, 'utf8');
  } catch {
    return undefined;
  }
}
