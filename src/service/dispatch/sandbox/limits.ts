// Resource limits that the kernel enforces for a worker. A limit on the address space is useless, because V8 reserves
// gigabytes that it never touches. Private writable memory counts when it is allocated, and an idle worker already has
// 1.2 GB.

/** The limits of one worker, in bytes. */
export interface ResourceLimits {
  /** Resident memory. The server watches it and kills a worker that exceeds it. */
  readonly memoryBytes: number;
  /** The largest file a worker may write. */
  readonly fileBytes: number;
}

const UNTOUCHED_MEMORY_BYTES = 2 * 1024 ** 3;
const MAX_OPEN_FILES = 1_024;

/**
 * This is above the limit that the server watches, so it only stops workers that grow faster than the server checks.
 */
export function dataLimit({ memoryBytes }: ResourceLimits): number {
  return memoryBytes + UNTOUCHED_MEMORY_BYTES;
}

export function limitArguments(limits: ResourceLimits): string[] {
  // A core file would contain a caller's image.
  return ['--core=0', `--nofile=${MAX_OPEN_FILES}`, `--fsize=${limits.fileBytes}`, `--data=${dataLimit(limits)}`];
}
