// Responds to bytes that aren't HTTP and to requests that break off. There is no request object yet, so the response is
// written to the socket.

import { randomUUID } from 'node:crypto';
import { STATUS_CODES } from 'node:http';
import type { Socket } from 'node:net';
import { AppError } from '../../../shared/errors.ts';
import { problemHeaders, toProblem } from '../../api/problem.ts';
import { type ErrorCode, ERRORS } from '../../../shared/error-table.ts';

export interface RefusedRequest {
  readonly requestId: string;
  readonly status: number;
  readonly code: ErrorCode;
}

/** Returns what the client was told, for the log, or undefined when it got no response. */
export function refuseBrokenRequest(error: NodeJS.ErrnoException, socket: Socket): RefusedRequest | undefined {
  // The client is gone, or a response is being sent and a second one would corrupt it.
  if (error.code === 'ECONNRESET' || !socket.writable || socket.bytesWritten > 0) {
    socket.destroy();
    return undefined;
  }
  // Clients open connections in advance. A client that finds a response on such a connection takes it for the response
  // to its next request.
  if (error.code === 'ERR_HTTP_REQUEST_TIMEOUT' && socket.bytesRead === 0) {
    socket.end();
    return undefined;
  }
  const problem = explain(error);
  const id = randomUUID();
  const body = JSON.stringify(toProblem(problem, id));
  const headers = { ...problemHeaders(problem), 'x-request-id': id, 'content-length': Buffer.byteLength(body) };
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}`);
  const { status } = ERRORS[problem.code];
  socket.end(`HTTP/1.1 ${status} ${STATUS_CODES[status]}\r\nconnection: close\r\n${lines.join('\r\n')}\r\n\r\n${body}`);
  return { requestId: id, status, code: problem.code };
}

function explain(error: NodeJS.ErrnoException): AppError {
  if (error.code === 'ERR_HTTP_REQUEST_TIMEOUT') {
    return new AppError('upload_too_slow', 'The request timed out before it was complete.', { cause: error });
  }
  const isTooLarge = error.code === 'HPE_HEADER_OVERFLOW';
  const detail = isTooLarge ? 'The request headers are too large.' : 'The HTTP request is malformed or incomplete.';
  return new AppError('malformed_body', detail, { cause: error });
}
