// Slow senders. Somebody who sends a byte now and then would hold a place, a directory and a connection for minutes: an
// upload must move on average, over every stretch of some seconds.

import type { IncomingMessage } from 'node:http';
import { AppError } from '../../errors.ts';

const STRETCH_MS = 10_000;
/** Slower than any connection that an upload makes sense on. */
const LEAST_BYTES_A_SECOND = 2_048;

/** Calls `onTooSlow` once when the body does not come; the returned function ends the watch. */
export function watchPace(request: IncomingMessage, onTooSlow: (reason: AppError) => void): () => void {
  const { socket } = request;
  let seen = socket.bytesRead;
  const timer = setInterval(() => {
    const moved = socket.bytesRead - seen;
    seen = socket.bytesRead;
    if (request.complete || moved >= (LEAST_BYTES_A_SECOND * STRETCH_MS) / 1_000) return;
    clearInterval(timer);
    const detail = `The body came with less than ${LEAST_BYTES_A_SECOND} bytes a second.`;
    onTooSlow(new AppError('upload_too_slow', detail));
  }, STRETCH_MS);
  return () => clearInterval(timer);
}
