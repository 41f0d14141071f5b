// Bytes out, answers in, without a client library between: for requests no library would send, and for what it would hide.

import { once } from 'node:events';
import type { IncomingHttpHeaders } from 'node:http';
import { connect } from 'node:net';

interface RawAnswer {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly body: Buffer;
}

export interface RawAnswers {
  readonly answers: readonly RawAnswer[];
  /** Bytes that are no answer. */
  readonly rest: Buffer;
  /** An error of the connection before anything came. */
  readonly error: string | undefined;
}

const FIRST_ANSWER_MS = 13_000;

/** Sends, then listens until nothing more has come for `quietMs` or the server closes. */
export async function exchange(url: string, bytes: Buffer, quietMs: number): Promise<RawAnswers> {
  const { hostname, port } = new URL(url);
  const socket = connect({ host: hostname, port: Number(port) });
  const chunks: Buffer[] = [];
  let error: string | undefined;
  socket.on('error', (fault: NodeJS.ErrnoException) => (error = fault.code ?? fault.message));
  socket.on('data', (chunk) => {
    chunks.push(chunk);
    // The first answer may take its time: leaving before it would leave a render paid for and not received.
    socket.setTimeout(quietMs);
  });
  socket.setTimeout(FIRST_ANSWER_MS, () => socket.destroy());
  socket.once('end', () => socket.destroy());
  socket.write(bytes);
  await once(socket, 'close');
  return { ...parse(Buffer.concat(chunks)), error };
}

function parse(bytes: Buffer): { answers: RawAnswer[]; rest: Buffer } {
  const answers: RawAnswer[] = [];
  let rest = bytes;
  for (;;) {
    const end = rest.indexOf('\r\n\r\n');
    if (end < 0) return { answers, rest };
    const [first = '', ...lines] = rest.toString('latin1', 0, end).split('\r\n');
    const status = Number(/^HTTP\/1\.1 (\d{3})/u.exec(first)?.[1]);
    if (Number.isNaN(status)) return { answers, rest };
    const headers = Object.fromEntries(
      lines.map((line) => [line.slice(0, line.indexOf(':')).toLowerCase(), line.slice(line.indexOf(':') + 1).trim()]),
    );
    const bodyEnd = end + 4 + Number(headers['content-length'] ?? 0);
    if (bodyEnd > rest.length) return { answers, rest };
    // "Continue" is leave to go on, not an answer.
    if (status !== 100) answers.push({ status, headers, body: rest.subarray(end + 4, bodyEnd) });
    rest = rest.subarray(bodyEnd);
  }
}
