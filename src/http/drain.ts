// An answer that comes before the upload is complete. Closing the connection at once would give many clients a broken pipe
// instead of the answer, so the rest of the upload is read and thrown away, within a budget.

import type { IncomingMessage, ServerResponse } from 'node:http';

const DRAIN_BYTES = 256 * 1024 * 1024;
const DRAIN_MS = 15_000;

/**
 * Before the answer: a client that wants the connection closed after it would be cut off while it still uploads, and lose
 * the answer. Node is kept from closing; `drainRest` closes when the rest has come.
 */
export function stayForRest(request: IncomingMessage, response: ServerResponse): void {
  if (request.complete || response.shouldKeepAlive) return;
  response.shouldKeepAlive = true;
  request.once('close', () => request.socket.end());
}

export function drainRest(request: IncomingMessage): void {
  if (request.complete || request.destroyed) return;
  let rest = DRAIN_BYTES;
  const giveUp = (): void => {
    request.destroy();
  };
  const timer = setTimeout(giveUp, DRAIN_MS);
  request.unpipe();
  request.on('data', (chunk: Buffer) => {
    rest -= chunk.length;
    if (rest < 0) giveUp();
  });
  request.once('close', () => clearTimeout(timer));
  request.once('end', () => clearTimeout(timer));
  request.on('error', () => clearTimeout(timer));
  request.resume();
}
