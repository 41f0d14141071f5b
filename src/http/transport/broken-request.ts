// Bytes that are not HTTP, or a request that breaks off: answered on the bare socket, because there is no request yet.

import { randomUUID } from 'node:crypto';
import { STATUS_CODES } from 'node:http';
import type { Socket } from 'node:net';
import { AppError } from '../../errors.ts';
import { problemHeaders, toProblem } from '../reference/problem.ts';
import { PROBLEMS } from '../reference/statuses.ts';

export function refuseBrokenRequest(error: NodeJS.ErrnoException, socket: Socket): void {
  // Gone already, or in the middle of an answer that a second one would corrupt.
  if (error.code === 'ECONNRESET' || !socket.writable || socket.bytesWritten > 0) {
    socket.destroy();
    return;
  }
  // Opened ahead of time and not needed: whoever finds an answer there takes it for that of his next request.
  if (error.code === 'ERR_HTTP_REQUEST_TIMEOUT' && socket.bytesRead === 0) {
    socket.end();
    return;
  }
  const problem = explain(error);
  const id = randomUUID();
  const body = JSON.stringify(toProblem(problem, id));
  const headers = { ...problemHeaders(problem), 'x-render-id': id, 'content-length': Buffer.byteLength(body) };
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}`);
  const { status } = PROBLEMS[problem.code];
  socket.end(`HTTP/1.1 ${status} ${STATUS_CODES[status]}\r\nconnection: close\r\n${lines.join('\r\n')}\r\n\r\n${body}`);
}

function explain(error: NodeJS.ErrnoException): AppError {
  if (error.code === 'ERR_HTTP_REQUEST_TIMEOUT') {
    return new AppError('upload_too_slow', 'The request did not come in time.', { cause: error });
  }
  const isTooLarge = error.code === 'HPE_HEADER_OVERFLOW';
  const detail = isTooLarge ? 'The request headers are too large.' : 'The HTTP request is malformed or incomplete.';
  return new AppError('malformed_body', detail, { cause: error });
}
