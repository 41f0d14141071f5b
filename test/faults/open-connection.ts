import { once } from 'node:events';
import { connect, type Socket } from 'node:net';

/** A bare TCP connection to a server, whose errors don't matter. */
export async function openConnection(url: string): Promise<Socket> {
  const { hostname, port } = new URL(url);
  const socket = connect({ host: hostname, port: Number(port) });
  socket.on('error', () => undefined);
  await once(socket, 'connect');
  return socket;
}
