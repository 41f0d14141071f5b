// Starts the hand-written server that ours is compared with.

import { fork } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';

const PROGRAM = fileURLToPath(new URL('peer-process.ts', import.meta.url));

export interface Peer {
  readonly url: string;
  readonly pid: number;
  close(): Promise<void>;
}

export async function startPeer(overlayFile: string): Promise<Peer> {
  const child = fork(PROGRAM, [overlayFile]);
  const failed = once(child, 'exit').then(() => {
    throw new Error('the hand-written server exited during startup');
  });
  // Exiting after `close` is expected.
  failed.catch(() => undefined);
  const [port] = await Promise.race([once(child, 'message'), failed]);
  const { pid } = child;
  if (pid === undefined) throw new Error('the hand-written server has no process id');
  return {
    url: `http://127.0.0.1:${port}`,
    pid,
    close: async () => {
      const exited = once(child, 'exit');
      child.disconnect();
      await exited;
    },
  };
}
