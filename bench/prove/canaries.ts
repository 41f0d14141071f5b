// Canaries: things that an upload must not be able to reach. They are secret files next to the data and in it, and a
// listener on loopback that no render may connect to.

import { randomUUID } from 'node:crypto';
import { mkdirSync, utimesSync, writeFileSync } from 'node:fs';
import { type AddressInfo, createServer } from 'node:net';
import path from 'node:path';
import { must } from '../../src/shared/must.ts';

export interface Canaries {
  /** Strings that must not appear in any response. */
  readonly secrets: readonly string[];
  /** The files that contain the secrets. */
  readonly files: readonly string[];
  /** Returns the port of the listener. */
  readonly port: () => number;
  /** Returns the number of connections to the listener so far. */
  readonly connections: () => number;
  close(): void;
}

export function placeCanaries(folder: string, dataDirectory: string): Canaries {
  const uploads = path.join(dataDirectory, 'work', String(process.pid), 'other-upload');
  mkdirSync(uploads, { recursive: true });
  const files = [path.join(folder, 'secret.txt'), path.join(dataDirectory, 'secret.txt'), path.join(uploads, 'asset')];
  const secrets = files.map(() => `canary-${randomUUID()}`);
  // The area has no lock file, so its age decides when it is swept. It must never look old.
  utimesSync(path.dirname(uploads), new Date(), new Date(Date.now() + 7 * 24 * 3_600_000));
  for (const [index, file] of files.entries()) writeFileSync(file, `${secrets[index]}\n`.repeat(20));
  let connections = 0;
  const listener = createServer((socket) => {
    connections += 1;
    socket.destroy();
  });
  listener.listen(0, '127.0.0.1').unref();
  return {
    secrets,
    files,
    port: () => must(listener.address() as AddressInfo | null, 'address of the canary listener').port,
    connections: () => connections,
    close: () => listener.close(),
  };
}
