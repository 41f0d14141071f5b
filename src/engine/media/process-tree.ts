// Reads /proc for a child process and its descendants. Without /proc, these functions do nothing.

import { readFileSync, writeFileSync } from 'node:fs';

/** Follows wrappers with a single child, such as a sandbox, down to the worker. The wrappers use hardly any memory. */
export function innermostProcess(pid: number): number | undefined {
  const children = childrenOf(pid);
  const [only, ...more] = children ?? [];
  if (only === undefined || more.length > 0) return children && pid;
  return innermostProcess(only);
}

/**
 * Returns resident memory in bytes, or undefined when the process is gone or not readable. This is synchronous, because
 * /proc isn't on disk and each trip through libuv's thread pool takes many times as long as the read.
 */
export function residentBytes(pid: number): number | undefined {
  const status = read(`/proc/${pid}/status`) ?? '';
  const kilobytes = /^VmRSS:\s+(?<kilobytes>\d+) kB$/mu.exec(status)?.groups?.['kilobytes'];
  return kilobytes === undefined ? undefined : Number(kilobytes) * 1024;
}

/** Linux counts processor time in hundredths of a second, whatever the kernel uses internally. */
const MS_PER_TICK = 10;

/**
 * Returns the processor time in milliseconds that the process and its running descendants have used, or undefined
 * without /proc.
 */
export function processorMs(pid: number): number | undefined {
  // The program name is in parentheses and may contain spaces. After it come the state and 10 other fields.
  const stat = read(`/proc/${pid}/stat`);
  const [user, system] =
    stat
      ?.slice(stat.lastIndexOf(')') + 2)
      .split(' ')
      .slice(11, 13) ?? [];
  if (user === undefined || system === undefined) return undefined;
  const own = (Number(user) + Number(system)) * MS_PER_TICK;
  return (childrenOf(pid) ?? []).reduce((sum, child) => sum + (processorMs(child) ?? 0), own);
}

/** Makes the kernel kill this process before the server when the machine runs out of memory. */
export function raiseOomScore(pid: number): void {
  try {
    writeFileSync(`/proc/${pid}/oom_score_adj`, '1000');
  } catch {
    // The process is gone, or this kernel has no such file. Then the kernel picks by size, usually the same process.
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
