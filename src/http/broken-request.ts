// Bytes that are not HTTP, or a request that breaks off: answered on the bare socket, because there is no request yet.

import { randomUUID } from 'node:crypto';
import type { Socket } from 'node:net';
import { AppError } from '../errors.ts';
import { problemHeaders, toProblem } from './problem.ts';

export function refuseBrokenRequest(error: NodeJS.ErrnoException, socket: Socket): void {
  // Gone already, or in the middle of an answer that a second one would corrupt.
  if (error.code === 'ECONNRESET' || !socket.writable || socket.bytesWritten > 0) {
    socket.destroy();
    return;
  }
  const detail =
    error.code === 'HPE_HEADER_OVERFLOW'
      ? 'The request headers are too large.'
      : 'The HTTP request is malformed or incomplete.';
  const problem = new AppError('malformed_body', detail, { cause: error });
  const id = randomUUID();
  const body = JSON.stringify(toProblem(problem, id));
  const headers = { ...problemHeaders(problem), 'x-render-id': id, 'content-length': Buffer.byteLength(body) };
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}`);
  socket.end(`HTTP/1.1 400 Bad Request\r\nconnection: close\r\n${lines.join('\r\n')}\r\n\r\n${body}`);
}
