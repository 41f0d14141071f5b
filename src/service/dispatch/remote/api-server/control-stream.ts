// The API server's end of a control stream: the open response to a worker that has claimed a ticket.

import type { IncomingMessage, ServerResponse } from 'node:http';
import { workerNameSchema } from '../../reports.ts';
import type { ControlMessage } from '../shared/control-messages.ts';
import { REDELIVERED_HEADER, WORKER_HEADER } from '../shared/wire.ts';
import type { ControlStreamWriter, RenderSession } from './session.ts';

/** Claims the ticket for the worker that sent the request. Returns false when the ticket is no longer valid. */
export function openControlStream(
  request: IncomingMessage,
  response: ServerResponse,
  session: RenderSession,
  generation: number,
): boolean {
  let isOpen = true;
  const write = (message: ControlMessage): string => `${JSON.stringify(message)}\n`;
  const stream: ControlStreamWriter = {
    worker: workerNameSchema.safeParse(request.headers[WORKER_HEADER]).data,
    send: (message) => {
      if (!response.headersSent) response.writeHead(200, { 'content-type': 'application/x-ndjson' });
      response.write(write(message));
    },
    close: () => {
      isOpen = false;
      response.end(write({ type: 'end' }));
    },
  };
  request.resume();
  request.socket.setNoDelay(true);
  const attempt = session.claim(generation, request.headers[REDELIVERED_HEADER] === '1', stream);
  if (attempt === undefined) return false;
  response.once('close', () => {
    if (isOpen) session.loseAttempt(attempt, 'control stream closed by the worker');
  });
  return true;
}
