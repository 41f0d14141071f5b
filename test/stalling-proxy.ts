// A TCP proxy that can go silent like a broken router: no data arrives, and no connection is closed.

import { type AddressInfo, connect, createServer, type Socket } from 'node:net';
import { freePort } from './free-port.ts';

export interface StallingProxy {
  readonly port: number;
  readonly url: string;
  /** The port that the proxy connects to. */
  readonly targetPort: number;
  /** Silences all current connections. New ones work. */
  stall(): void;
  /** Silences all current and new connections. */
  cut(): void;
  /** Delivers what was sent or closed in the meantime, as when a network heals. */
  heal(): void;
  stop(): Promise<void>;
}

interface ProxiedConnection {
  readonly near: Socket;
  far: Socket | undefined;
  isOpen: boolean;
}

/** Without a target, chooses a free port for the test to listen on. */
export async function startStallingProxy(target?: number): Promise<StallingProxy> {
  const targetPort = target ?? (await freePort());
  const connections = new Set<ProxiedConnection>();
  let isCut = false;
  const server = createServer({ pauseOnConnect: true }, (near) => {
    const connection: ProxiedConnection = { near, far: undefined, isOpen: false };
    connections.add(connection);
    watch(connection, near);
    if (!isCut) open(connection);
  });
  /** While a connection is silent, closing one side doesn't close the other. */
  const watch = (connection: ProxiedConnection, socket: Socket): void => {
    socket.on('error', () => undefined);
    socket.once('close', () => {
      if (connection.isOpen) end(connection);
    });
  };
  const end = (connection: ProxiedConnection): void => {
    connection.near.destroy();
    connection.far?.destroy();
    connections.delete(connection);
  };
  const open = (connection: ProxiedConnection): void => {
    connection.isOpen = true;
    if (connection.far === undefined) {
      connection.far = connect({ host: '127.0.0.1', port: targetPort });
      watch(connection, connection.far);
    }
    if (connection.near.destroyed || connection.far.destroyed) return end(connection);
    connection.near.pipe(connection.far);
    connection.far.pipe(connection.near);
  };
  const close = (connection: ProxiedConnection): void => {
    connection.isOpen = false;
    for (const socket of [connection.near, connection.far]) socket?.unpipe().pause();
  };
  await new Promise<void>((resolve) => {
    server.listen(0, '127.0.0.1', resolve);
  });
  const { port } = server.address() as AddressInfo;
  return {
    port,
    url: `http://127.0.0.1:${port}`,
    targetPort,
    stall: () => connections.forEach(close),
    cut: () => {
      isCut = true;
      connections.forEach(close);
    },
    heal: () => {
      isCut = false;
      connections.forEach(open);
    },
    stop: async () => {
      const closed = new Promise((resolve) => server.close(resolve));
      connections.forEach(end);
      await closed;
    },
  };
}
