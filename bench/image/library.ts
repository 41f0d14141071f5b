// The bare library call, in a process that does nothing else: neither it nor whoever measures pays for the other's garbage.

import { fork } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';

const PROGRAM = fileURLToPath(new URL('library-process.ts', import.meta.url));

export interface Library {
  render(): Promise<void>;
  close(): void;
}

export function startLibrary(photo: string): Library {
  const child = fork(PROGRAM, [photo]);
  const ended = once(child, 'exit').then(() => {
    throw new Error('the library process ended');
  });
  // Told to whoever waits for a render; ending afterwards is as it should be.
  ended.catch(() => undefined);
  return {
    render: async () => {
      const answered = once(child, 'message');
      child.send('render');
      await Promise.race([answered, ended]);
    },
    close: () => child.disconnect(),
  };
}
