// Counts the bytes of a response that were sent: those that the kernel has accepted into the socket's send buffer. A
// server can't know more than that, because a proxy or the client's own buffers may hold bytes that the client never
// reads.

import type { ServerResponse } from 'node:http';

/**
 * Counts the bytes of each `write` once the kernel has accepted all of them. Returns a function that reads the count. A
 * body that is passed to `end` isn't counted, because the response then finishes with it or not at all.
 */
export function countSentBytes(response: ServerResponse): () => number {
  let sent = 0;
  const write = response.write.bind(response);
  response.write = (chunk: Buffer) =>
    write(chunk, (error) => {
      if (!error) sent += chunk.length;
    });
  return () => sent;
}
