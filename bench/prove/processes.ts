// What the kernel knows of a process: its children, its time, its memory and its open files. Linux only.

import { readdirSync, readFileSync } from 'node:fs';

/** `USER_HZ`, the same on every Linux we know. */
const TICKS_A_SECOND = 100;
const PAGE_BYTES = 4_096;

/** Direct children; none when it is gone. */
export function childrenOf(pid: number): number[] {
  const text = readOf(`/proc/${pid}/task/${pid}/children`);
  return (text ?? '').trim().split(/\s+/u).filter(Boolean).map(Number);
}

/** A worker in a sandbox is a grandchild: what wraps it only waits. */
export function innermost(pid: number): number {
  const [child] = childrenOf(pid);
  return child === undefined ? pid : innermost(child);
}

export function commandOf(pid: number): string[] {
  return (readOf(`/proc/${pid}/cmdline`) ?? '').split('\0');
}

/** One that has ended and waits for its new parent to take note is not. */
export function isAlive(pid: number): boolean {
  return /^State:\s+[^ZX]/mu.test(readOf(`/proc/${pid}/status`) ?? '');
}

export function descriptorsOf(pid: number): number {
  return readdirSync(`/proc/${pid}/fd`).length;
}

/** Resident bytes; 0 when it is gone. */
export function residentBytes(pid: number): number {
  return Number(readOf(`/proc/${pid}/statm`)?.split(' ')[1] ?? 0) * PAGE_BYTES;
}

export interface Effort {
  readonly cpuMs: number;
  /** On a processor, or waiting for one. */
  readonly runs: boolean;
}

/** Undefined when it is gone. */
export function effortOf(pid: number): Effort | undefined {
  const text = readOf(`/proc/${pid}/stat`);
  // The name in the second field may hold spaces; what follows its closing bracket does not.
  const fields = text?.slice(text.lastIndexOf(')') + 2).split(' ');
  if (fields === undefined || fields[0] === 'Z') return undefined;
  const ticks = Number(fields[11]) + Number(fields[12]);
  return { cpuMs: (ticks / TICKS_A_SECOND) * 1_000, runs: threadsRun(pid) };
}

/** What the host of a virtual machine has given to others while we wanted to run, of all cores together. */
export function stolenMs(): number {
  const [, ...fields] = readOf('/proc/stat')?.split('\n', 1)[0]?.split(/\s+/u) ?? [];
  return (Number(fields[7] ?? 0) / TICKS_A_SECOND) * 1_000;
}

function threadsRun(pid: number): boolean {
  try {
    return readdirSync(`/proc/${pid}/task`).some((thread) => {
      const text = readOf(`/proc/${pid}/task/${thread}/stat`) ?? '';
      return text.slice(text.lastIndexOf(')') + 2).startsWith('R');
    });
  } catch {
    return false;
  }
}

function readOf(file: string): string | undefined {
  try {
    return readFileSync(file, 'utf8');
  } catch {
    // Gone between two looks, which is an answer too.
    return undefined;
  }
}
