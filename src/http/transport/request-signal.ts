// One signal per request: it fires when the client goes away, when the deadline passes or when the server gives up on
// running requests at shutdown. Everything that waits listens to it.

import type { ServerResponse } from 'node:http';
import { AppError } from '../../errors.ts';
import { onClosed } from './on-closed.ts';

export interface RequestSignal {
  readonly signal: AbortSignal;
  /** Starts the clock; before it, only the transport's own time-outs apply. */
  startDeadline(milliseconds: number): void;
  /** Ends the request for another reason. */
  giveUp(reason: Error): void;
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
        const detail = `The render was not finished within ${milliseconds / 1_000} seconds.`;
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
