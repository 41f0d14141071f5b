// A network that can go silent, as behind a dead router: nothing is said, nothing is closed, nothing arrives.

import { type AddressInfo, connect, createServer, type Socket } from 'node:net';
import { freePort } from './free-port.ts';

export interface StallingProxy {
  readonly port: number;
  readonly url: string;
  /** Where whatever is behind it must listen. */
  readonly targetPort: number;
  /** Connections of now carry nothing from here on; new ones do. */
  stall(): void;
  /** No connection carries anything, whenever it is made. */
  cut(): void;
  /** What was sent meanwhile arrives late, as it does when a network heals; so does the news of who has left. */
  heal(): void;
  stop(): Promise<void>;
}

interface Line {
  readonly near: Socket;
  far: Socket | undefined;
  isOpen: boolean;
}

/** In front of `targetPort`, or of a free port that somebody will listen on. */
export async function startStallingProxy(target?: number): Promise<StallingProxy> {
  const targetPort = target ?? (await freePort());
  const lines = new Set<Line>();
  let isCut = false;
  const server = createServer({ pauseOnConnect: true }, (near) => {
    const line: Line = { near, far: undefined, isOpen: false };
    lines.add(line);
    watch(line, near);
    if (!isCut) open(line);
  });
  /** While nothing passes, neither does the end of a connection. */
  const watch = (line: Line, socket: Socket): void => {
    socket.on('error', () => undefined);
    socket.once('close', () => {
      if (line.isOpen) end(line);
    });
  };
  const end = (line: Line): void => {
    line.near.destroy();
    line.far?.destroy();
    lines.delete(line);
  };
  const open = (line: Line): void => {
    line.isOpen = true;
    if (line.far === undefined) {
      line.far = connect({ host: '127.0.0.1', port: targetPort });
      watch(line, line.far);
    }
    if (line.near.destroyed || line.far.destroyed) return end(line);
    line.near.pipe(line.far);
    line.far.pipe(line.near);
  };
  const close = (line: Line): void => {
    line.isOpen = false;
    for (const socket of [line.near, line.far]) socket?.unpipe().pause();
  };
  await new Promise<void>((resolve) => {
    server.listen(0, '127.0.0.1', resolve);
  });
  const { port } = server.address() as AddressInfo;
  return {
    port,
    url: `http://127.0.0.1:${port}`,
    targetPort,
    stall: () => lines.forEach(close),
    cut: () => {
      isCut = true;
      lines.forEach(close);
    },
    heal: () => {
      isCut = false;
      lines.forEach(open);
    },
    stop: async () => {
      const closed = new Promise((resolve) => server.close(resolve));
      lines.forEach(end);
      await closed;
    },
  };
}
