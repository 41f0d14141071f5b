// Makes a render last as long as a test needs. A stopped worker process takes no CPU time and can't finish too early, unlike
// a render that is slow because its image is large.

import { readProcess, type RunningServer, signalProcess } from './running-server.ts';

/** Process ids of the workers for images. */
export function imageWorkers(server: Pick<RunningServer, 'workerPids'>): number[] {
  return workersOf(server, 'image');
}

/** Process ids of the workers for videos. */
export function videoWorkers(server: Pick<RunningServer, 'workerPids'>): number[] {
  return workersOf(server, 'video');
}

function workersOf({ workerPids }: Pick<RunningServer, 'workerPids'>, kind: 'image' | 'video'): number[] {
  return workerPids().filter((pid) => readProcess(pid, 'cmdline').includes(`\0${kind}\0`));
}

/** Stops these processes until the returned function is called. The server replaces a worker that makes no progress for five minutes. */
export function hold(pids: readonly number[]): () => void {
  for (const pid of pids) process.kill(pid, 'SIGSTOP');
  return () => {
    for (const pid of pids) signalProcess(pid, 'SIGCONT');
  };
}

/** Stops the workers for images, so that their next render doesn't end before the returned function is called. */
export function holdImages(server: RunningServer): () => void {
  return hold(imageWorkers(server));
}

/** Like `holdImages`, for videos. */
export function holdVideos(server: RunningServer): () => void {
  return hold(videoWorkers(server));
}
