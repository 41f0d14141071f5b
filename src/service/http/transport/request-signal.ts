// One abort signal per request. It fires when the client disconnects, when the deadline passes, or when the server aborts
// running requests at shutdown.

import type { ServerResponse } from 'node:http';
import { AppError } from '../../../shared/errors.ts';
import { onClosed } from './on-closed.ts';

export interface RequestSignal {
  readonly signal: AbortSignal;
  /** Starts the deadline. Until then, only the timeouts of the transport apply. */
  startDeadline(milliseconds: number): void;
  /** Aborts the request for another reason. */
  giveUp(reason: Error): void;
  /** Stops the deadline and removes every listener. */
  release(): void;
}

export function createRequestSignal(response: ServerResponse, shutdown: AbortSignal): RequestSignal {
  const controller = new AbortController();
  let timer: NodeJS.Timeout | undefined;
  const onClose = (): void => {
    if (!response.writableFinished)
      controller.abort(new AppError('client_closed', 'The client closed the connection.'));
  };
  const onShutdown = (): void => controller.abort(shutdown.reason);
  onClosed(response, onClose);
  shutdown.addEventListener('abort', onShutdown, { once: true });
  return {
    signal: controller.signal,
    startDeadline: (milliseconds) => {
      timer = setTimeout(() => {
        const detail = `The render took longer than ${milliseconds / 1_000} seconds.`;
        controller.abort(new AppError('deadline_exceeded', detail));
      }, milliseconds);
    },
    giveUp: (reason) => controller.abort(reason),
    release: () => {
      clearTimeout(timer);
      response.off('close', onClose);
      shutdown.removeEventListener('abort', onShutdown);
    },
  };
}
