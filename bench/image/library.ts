// Calls the library in a separate process, so that its garbage collection and the benchmark's don't interfere.

import { fork } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';

const PROGRAM = fileURLToPath(new URL('library-process.ts', import.meta.url));

export interface Library {
  readonly pid: number;
  render(): Promise<void>;
  close(): void;
}

export function startLibrary(file: string): Library {
  const child = fork(PROGRAM, [file]);
  const exited = once(child, 'exit').then(() => {
    throw new Error('the library process exited');
  });
  // A rejection matters only while a render is pending, because exiting after `close` is expected.
  exited.catch(() => undefined);
  const { pid } = child;
  if (pid === undefined) throw new Error('the library process has no process id');
  return {
    pid,
    render: async () => {
      const done = once(child, 'message');
      child.send('render');
      await Promise.race([done, exited]);
    },
    close: () => child.disconnect(),
  };
}
