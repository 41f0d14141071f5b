// What the kernel counts for a worker. Address space is of no use: the JavaScript engine reserves gigabytes that it never
// touches. Private writable memory is counted as it is asked for, and an idle worker already has 1.2 GB of it.

/** For one worker, in bytes. */
export interface ResourceLimits {
  /** Memory really used; watched by the server, which kills above it. */
  readonly memoryBytes: number;
  /** The largest file it may write. */
  readonly fileBytes: number;
}

const ROOM_FOR_UNTOUCHED_MEMORY = 2 * 1024 ** 3;
const OPEN_FILES = 1_024;

/** Above what the server watches: it only stops what grows faster than the server looks. */
export function dataLimit({ memoryBytes }: ResourceLimits): number {
  return memoryBytes + ROOM_FOR_UNTOUCHED_MEMORY;
}

export function limitArguments(limits: ResourceLimits): string[] {
  // A core file would hold a caller's picture.
  return ['--core=0', `--nofile=${OPEN_FILES}`, `--fsize=${limits.fileBytes}`, `--data=${dataLimit(limits)}`];
}
