// Limits slow clients. A client that sends or reads a byte now and then would hold a slot, a directory and a connection
// for minutes. An upload and a response must therefore keep a minimum average speed in every interval and be complete
// within a time limit.

import type { IncomingMessage } from 'node:http';
import { AppError } from '../../shared/errors.ts';

const INTERVAL_MS = 10_000;
/**
 * The interval is longer for responses, because bytes count in writes of up to 128 KiB, each when a part of the socket
 * buffer is free again.
 */
const RESPONSE_INTERVAL_MS = 60_000;
/** Slower than any connection that is practical for media. */
const MIN_BYTES_PER_SECOND = 2_048;

/** Calls `onTooSlow` if the body is too slow or incomplete after `maxSeconds`. Call the returned function to stop watching. */
export function watchPace(
  request: IncomingMessage,
  onTooSlow: (reason: AppError) => void,
  maxSeconds: number,
  { intervalMs = INTERVAL_MS, minBytesPerSecond = MIN_BYTES_PER_SECOND } = {},
): () => void {
  const { socket } = request;
  let bytesBefore = socket.bytesRead;
  const timer = setInterval(() => {
    const received = socket.bytesRead - bytesBefore;
    bytesBefore = socket.bytesRead;
    if (request.complete || received >= (minBytesPerSecond * intervalMs) / 1_000) return;
    clearInterval(timer);
    const detail = `The upload was slower than ${minBytesPerSecond} bytes per second.`;
    onTooSlow(new AppError('upload_too_slow', detail));
  }, intervalMs);
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

/**
 * Calls `onTooSlow` if the client reads the response too slowly or doesn't have it after `maxSeconds`. `sentBytes`
 * returns the bytes that the kernel has accepted so far. Call the returned function to stop watching.
 */
export function watchReader(
  sentBytes: () => number,
  onTooSlow: (reason: string) => void,
  maxSeconds: number,
): () => void {
  let bytesBefore = 0;
  const timer = setInterval(() => {
    const sent = sentBytes() - bytesBefore;
    bytesBefore += sent;
    if (sent >= (MIN_BYTES_PER_SECOND * RESPONSE_INTERVAL_MS) / 1_000) return;
    onTooSlow(`The client read fewer than ${MIN_BYTES_PER_SECOND} bytes per second.`);
  }, RESPONSE_INTERVAL_MS);
  const deadline = setTimeout(
    () => onTooSlow(`The client didn't read the response within ${maxSeconds} seconds.`),
    maxSeconds * 1_000,
  );
  return () => {
    clearInterval(timer);
    clearTimeout(deadline);
  };
}
