// Things that nobody may reach through an upload: secrets beside the data and in it, and listeners on loopback that no
// render may call.

import { randomUUID } from 'node:crypto';
import { mkdirSync, writeFileSync } from 'node:fs';
import { type AddressInfo, createServer } from 'node:net';
import path from 'node:path';

export interface Canaries {
  /** Texts that must appear in no answer. */
  readonly secrets: readonly string[];
  /** Files that hold them. */
  readonly files: readonly string[];
  /** Of the listener. */
  readonly port: () => number;
  readonly visits: () => number;
  close(): void;
}

export function placeCanaries(folder: string, dataDirectory: string): Canaries {
  const uploads = path.join(dataDirectory, 'work', String(process.pid), 'somebody-else');
  mkdirSync(uploads, { recursive: true });
  const files = [path.join(folder, 'secret.txt'), path.join(dataDirectory, 'secret.txt'), path.join(uploads, 'asset')];
  const secrets = files.map(() => `canary-${randomUUID()}`);
  for (const [index, file] of files.entries()) writeFileSync(file, `${secrets[index]}\n`.repeat(20));
  let visits = 0;
  const listener = createServer((socket) => {
    visits += 1;
    socket.destroy();
  });
  listener.listen(0, '127.0.0.1').unref();
  return {
    secrets,
    files,
    port: () => (listener.address() as AddressInfo | null)?.port ?? 0,
    visits: () => visits,
    close: () => listener.close(),
  };
}
