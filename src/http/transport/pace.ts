// Slow uploads. A client that sends a byte now and then would hold a slot, a directory and a connection for minutes, so an
// upload must keep a minimum average speed in every interval and be complete within a time limit.

import type { IncomingMessage } from 'node:http';
import { AppError } from '../../errors.ts';

const INTERVAL_MS = 10_000;
/** Slower than any connection that is practical for uploads. */
const MIN_BYTES_PER_SECOND = 2_048;

/** Calls `onTooSlow` if the body is too slow or incomplete after `maxSeconds`. Call the returned function to stop watching. */
export function watchPace(
  request: IncomingMessage,
  onTooSlow: (reason: AppError) => void,
  maxSeconds: number,
): () => void {
  const { socket } = request;
  let bytesBefore = socket.bytesRead;
  const timer = setInterval(() => {
    const received = socket.bytesRead - bytesBefore;
    bytesBefore = socket.bytesRead;
    if (request.complete || received >= (MIN_BYTES_PER_SECOND * INTERVAL_MS) / 1_000) return;
    clearInterval(timer);
    const detail = `The upload was slower than ${MIN_BYTES_PER_SECOND} bytes per second.`;
    onTooSlow(new AppError('upload_too_slow', detail));
  }, INTERVAL_MS);
  const deadline = setTimeout(() => {
    if (request.complete) return;
    clearInterval(timer);
    const detail = `The request must arrive within ${maxSeconds} seconds. Use a faster connection or send a smaller file.`;
    onTooSlow(new AppError('upload_too_slow', detail));
  }, maxSeconds * 1_000);
  return () => {
    clearInterval(timer);
    clearTimeout(deadline);
  };
}
