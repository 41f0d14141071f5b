// A network that can go silent: connections made before the stall stay open and carry nothing, as behind a dead router.

import { type AddressInfo, connect, createServer, type Socket } from 'node:net';
import { freePort } from './free-port.ts';

export interface StallingProxy {
  readonly url: string;
  /** Where whatever is behind it must listen. */
  readonly targetPort: number;
  stall(): void;
  stop(): Promise<void>;
}

export async function startStallingProxy(): Promise<StallingProxy> {
  const targetPort = await freePort();
  const sockets = new Set<Socket>();
  const server = createServer((near) => {
    const far = connect({ host: '127.0.0.1', port: targetPort });
    for (const [from, to] of [
      [near, far],
      [far, near],
    ] as const) {
      sockets.add(from);
      from.pipe(to);
      from.on('error', () => to.destroy());
      from.once('close', () => sockets.delete(from));
    }
  });
  await new Promise<void>((resolve) => {
    server.listen(0, '127.0.0.1', resolve);
  });
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    targetPort,
    stall: () => {
      for (const socket of sockets) {
        socket.unpipe();
        socket.pause();
      }
    },
    stop: async () => {
      const closed = new Promise((resolve) => server.close(resolve));
      for (const socket of sockets) socket.destroy();
      await closed;
    },
  };
}
