// An answer that comes before the upload is complete. Closing the connection at once would give many clients a broken pipe
// instead of the answer, so the rest of the upload is read and thrown away, within a budget. Clients that listen while they
// send learn from `connection: close` that they can stop; the others may go on to the end.

import type { IncomingMessage, ServerResponse } from 'node:http';

const DRAIN_BYTES = 256 * 1024 * 1024;
const DRAIN_MS = 15_000;
/** An upload that is shorter than this is taken to its end, and the connection kept: a new one costs both sides more. */
const SHORT_BYTES = 1024 * 1024;

/** Before the answer: how the connection ends after it, when the upload is still under way. */
export function stayForRest(request: IncomingMessage, response: ServerResponse): void {
  const { socket, headers } = request;
  if (request.complete) return;
  const announced = Number(headers['content-length'] ?? Number.POSITIVE_INFINITY);
  if (response.shouldKeepAlive && announced <= SHORT_BYTES) return;
  response.shouldKeepAlive = false;
  // What Node calls after such an answer. Its own would close both ways, and with bytes unread that resets the connection
  // and takes the answer from the client again. This one closes our way only; `drainRest` reads on and ends it.
  const close = socket.destroySoon.bind(socket);
  socket.destroySoon = () => {
    socket.end();
    if (request.closed) close();
    else request.once('close', close);
  };
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
  request.on('error', () => clearTimeout(timer));
  request.resume();
}
