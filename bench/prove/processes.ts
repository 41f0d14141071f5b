// Reads the kernel's data about a process: children, CPU time, memory and open files. Works on Linux only.

import { readdirSync, readFileSync } from 'node:fs';

/** `USER_HZ`, which is 100 on every Linux architecture we support. */
const TICKS_PER_SECOND = 100;
const PAGE_BYTES = 4_096;

/** Returns the direct children, or none when the process is gone. */
export function childrenOf(pid: number): number[] {
  const text = readIfPresent(`/proc/${pid}/task/${pid}/children`);
  return (text ?? '').trim().split(/\s+/u).filter(Boolean).map(Number);
}

/**
 * Returns the worker itself: a sandboxed worker is a grandchild of the server, and the processes in between only wait
 * for it.
 */
export function innermost(pid: number): number {
  const [child] = childrenOf(pid);
  return child === undefined ? pid : innermost(child);
}

export function commandOf(pid: number): string[] {
  return (readIfPresent(`/proc/${pid}/cmdline`) ?? '').split('\0');
}

/** Returns false for a zombie too: it has ended and only waits for its new parent to reap it. */
export function isAlive(pid: number): boolean {
  return /^State:\s+[^ZX]/mu.test(readIfPresent(`/proc/${pid}/status`) ?? '');
}

export function openDescriptors(pid: number): number {
  return readdirSync(`/proc/${pid}/fd`).length;
}

/** Returns the resident bytes, or 0 when the process is gone. */
export function residentBytes(pid: number): number {
  return Number(readIfPresent(`/proc/${pid}/statm`)?.split(' ')[1] ?? 0) * PAGE_BYTES;
}

export interface CpuState {
  readonly cpuMs: number;
  /** True if a thread is on a CPU or waiting for one. */
  readonly isRunnable: boolean;
}

/** Returns undefined when the process is gone. */
export function cpuOf(pid: number): CpuState | undefined {
  const text = readIfPresent(`/proc/${pid}/stat`);
  // The second field is the name, which may contain spaces. The fields after its closing parenthesis don't.
  const fields = text?.slice(text.lastIndexOf(')') + 2).split(' ');
  if (fields === undefined || fields[0] === 'Z') return undefined;
  const ticks = Number(fields[11]) + Number(fields[12]);
  return { cpuMs: (ticks / TICKS_PER_SECOND) * 1_000, isRunnable: hasRunnableThread(pid) };
}

/** Returns the CPU time that the host of a virtual machine gave to other guests, summed over all cores. */
export function stolenMs(): number {
  const [, ...fields] = readIfPresent('/proc/stat')?.split('\n', 1)[0]?.split(/\s+/u) ?? [];
  return (Number(fields[7] ?? 0) / TICKS_PER_SECOND) * 1_000;
}

function hasRunnableThread(pid: number): boolean {
  try {
    return readdirSync(`/proc/${pid}/task`).some((thread) => {
      const text = readIfPresent(`/proc/${pid}/task/${thread}/stat`) ?? '';
      return text.slice(text.lastIndexOf(')') + 2).startsWith('R');
    });
  } catch {
    return false;
  }
}

function readIfPresent(file: string): string | undefined {
  try {
    return readFileSync(file, 'utf8');
  } catch {
    // The process ended in the meantime.
    return undefined;
  }
}
