// Responses that are sent before the upload is complete. Closing the connection immediately would give many clients a
// broken pipe instead of the response, so the server reads the rest of the upload and discards it, within a budget.
// `connection: close` tells clients that listen while they send to stop.

import type { IncomingMessage, ServerResponse } from 'node:http';

const MAX_DRAIN_BYTES = 256 * 1024 * 1024;
const MAX_DRAIN_MS = 15_000;
/** Shorter uploads are read to their end and the connection is kept, because a new connection costs both sides more. */
const SHORT_UPLOAD_BYTES = 1024 * 1024;

/**
 * Call this before sending the response. While the upload is incomplete, the connection stays open for it after the
 * response.
 */
export function keepOpenForUpload(request: IncomingMessage, response: ServerResponse): void {
  const { socket, headers } = request;
  if (request.complete) return;
  const announcedBytes = Number(headers['content-length'] ?? Number.POSITIVE_INFINITY);
  if (response.shouldKeepAlive && announcedBytes <= SHORT_UPLOAD_BYTES) return;
  response.shouldKeepAlive = false;
  // Node calls `destroySoon` after such a response. Its own version closes both directions. With unread bytes that
  // resets the connection, and the client loses the response. This version closes only the sending side until the
  // upload ends.
  const close = socket.destroySoon.bind(socket);
  socket.destroySoon = () => {
    socket.end();
    if (request.closed) close();
    else request.once('close', close);
  };
}

/** Reads and discards the rest of the upload. Call this after the response. */
export function drainUpload(request: IncomingMessage): void {
  if (request.complete || request.destroyed) return;
  let remainingBytes = MAX_DRAIN_BYTES;
  const timer = setTimeout(() => request.destroy(), MAX_DRAIN_MS);
  request.unpipe();
  request.on('data', (chunk: Buffer) => {
    remainingBytes -= chunk.length;
    if (remainingBytes < 0) request.destroy();
  });
  request.once('close', () => clearTimeout(timer));
  request.on('error', () => clearTimeout(timer));
  request.resume();
}
