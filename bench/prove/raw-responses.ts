// Sends bytes over a socket and parses the responses without an HTTP client, which would refuse to send malformed
// requests and hide parts of the responses.

import { once } from 'node:events';
import type { IncomingHttpHeaders } from 'node:http';
import { connect } from 'node:net';

interface RawResponse {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly body: Buffer;
}

export interface RawExchange {
  readonly responses: readonly RawResponse[];
  /** Received bytes that aren't part of a complete response. */
  readonly rest: Buffer;
  /** The connection error, if there was one. */
  readonly error: string | undefined;
}

const FIRST_RESPONSE_MS = 13_000;

/** Sends, then reads until nothing has arrived for `quietMs` or the server closes the connection. */
export async function exchange(url: string, bytes: Buffer, quietMs: number): Promise<RawExchange> {
  const { hostname, port } = new URL(url);
  const socket = connect({ host: hostname, port: Number(port) });
  const chunks: Buffer[] = [];
  let error: string | undefined;
  socket.on('error', (cause: NodeJS.ErrnoException) => (error = cause.code ?? cause.message));
  socket.on('data', (chunk) => {
    chunks.push(chunk);
    // The timeout starts with the first byte, because closing during a render could leave a charge without a delivery.
    socket.setTimeout(quietMs);
  });
  socket.setTimeout(FIRST_RESPONSE_MS, () => socket.destroy());
  socket.once('end', () => socket.destroy());
  socket.write(bytes);
  await once(socket, 'close');
  return { ...parse(Buffer.concat(chunks)), error };
}

function parse(bytes: Buffer): { responses: RawResponse[]; rest: Buffer } {
  const responses: RawResponse[] = [];
  let rest = bytes;
  for (;;) {
    const end = rest.indexOf('\r\n\r\n');
    if (end < 0) return { responses, rest };
    const [first = '', ...lines] = rest.toString('latin1', 0, end).split('\r\n');
    const status = Number(/^HTTP\/1\.1 (\d{3})/u.exec(first)?.[1]);
    if (Number.isNaN(status)) return { responses, rest };
    const headers = Object.fromEntries(
      lines.map((line) => [line.slice(0, line.indexOf(':')).toLowerCase(), line.slice(line.indexOf(':') + 1).trim()]),
    );
    const bodyEnd = end + 4 + Number(headers['content-length'] ?? 0);
    if (bodyEnd > rest.length) return { responses, rest };
    // `100 Continue` is an interim response.
    if (status !== 100) responses.push({ status, headers, body: rest.subarray(end + 4, bodyEnd) });
    rest = rest.subarray(bodyEnd);
  }
}
