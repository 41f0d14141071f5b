// Which connections carry a request. A server that is to stop waits for those, and for nobody who merely stays connected,
// has sent half a header or keeps a connection open for later.

import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';

export class Connections {
  /** Each with the number of requests on it that have no complete answer yet. */
  readonly #open = new Map<Socket, number>();

  constructor(server: Server) {
    server.on('connection', (socket: Socket) => {
      this.#open.set(socket, 0);
      socket.once('close', () => this.#open.delete(socket));
    });
    server.on('request', ({ socket }: IncomingMessage, response: ServerResponse) => {
      this.#count(socket, 1);
      response.once('close', () => this.#count(socket, -1));
    });
  }

  closeUnused(): void {
    for (const [socket, requests] of this.#open) if (requests === 0) socket.destroy();
  }

  closeAll(): void {
    for (const socket of this.#open.keys()) socket.destroy();
  }

  #count(socket: Socket, change: number): void {
    const requests = this.#open.get(socket);
    if (requests !== undefined) this.#open.set(socket, requests + change);
  }
}
