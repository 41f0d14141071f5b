// Runs a contender in a process of its own, as a service would. In one process, contenders slow each other down by
// their garbage and by the state of the memory allocator, and those with much JavaScript lose most.

import { fork } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import type { Timings } from '../../src/engine/render/timing.ts';
import type { Contender } from './contender.ts';
import type { Timed } from './rounds.ts';
import type { Scene } from './scene.ts';

const PROGRAM = fileURLToPath(new URL('contender-process.ts', import.meta.url));

/** A scene with the photo in a file. */
export interface ApartScene extends Omit<Scene, 'photo'> {
  readonly photo: Omit<Scene['photo'], 'jpeg'>;
  readonly file: string;
}

/** Measured by the child process. Writing the file isn't part of the time. */
export interface ApartResult {
  readonly ms: number;
  readonly cpuMs: number;
  readonly output: string;
  /** Set only for our pipeline. */
  readonly timings?: Timings;
}

export interface Apart {
  run(): Promise<Timed<ApartResult>>;
  close(): void;
}

export async function startApart({ name }: Contender, scene: Scene, file: string): Promise<Apart> {
  const { width, height } = scene.photo;
  const apart: ApartScene = { ...scene, photo: { name: scene.photo.name, width, height }, file };
  const child = fork(PROGRAM, [name, JSON.stringify(apart)]);
  const exited = once(child, 'exit').then(() => {
    throw new Error(`the process of ${name} exited`);
  });
  // A rejection matters only while a message is expected, because exiting after `close` is expected.
  exited.catch(() => undefined);
  await Promise.race([once(child, 'message'), exited]);
  return {
    run: async () => {
      const message = once(child, 'message');
      child.send('run');
      const [result] = (await Promise.race([message, exited])) as [ApartResult];
      return { ms: result.ms, cpuMs: result.cpuMs, result };
    },
    close: () => child.disconnect(),
  };
}
