// Tracks which connections carry a request. A server that shuts down waits for these, and closes idle connections and those
// with an incomplete request header.

import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';

export class Connections {
  /** Open connections, each with its number of requests without a complete response. */
  readonly #pendingRequests = new Map<Socket, number>();

  constructor(server: Server) {
    server.on('connection', (socket: Socket) => {
      this.#pendingRequests.set(socket, 0);
      socket.once('close', () => this.#pendingRequests.delete(socket));
    });
    server.on('request', ({ socket }: IncomingMessage, response: ServerResponse) => {
      this.#adjust(socket, 1);
      response.once('close', () => this.#adjust(socket, -1));
    });
  }

  closeIdle(): void {
    for (const [socket, requests] of this.#pendingRequests) if (requests === 0) socket.destroy();
  }

  closeAll(): void {
    for (const socket of this.#pendingRequests.keys()) socket.destroy();
  }

  #adjust(socket: Socket, change: number): void {
    const requests = this.#pendingRequests.get(socket);
    if (requests !== undefined) this.#pendingRequests.set(socket, requests + change);
  }
}
