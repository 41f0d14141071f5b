// Sends overlay requests at the lowest cost to the machine: bodies are built beforehand and connections are reused. It
// never throws, because a broken connection is a result to record as well.

import { Agent, request } from 'node:http';
import type { Journal, ResponseRecord } from './journal.ts';

const BOUNDARY = 'storybar-prove-boundary';
/** Longer than any deadline of the server. */
const TIMEOUT_MS = 90_000;

export interface Target {
  readonly url: string;
  readonly agent: Agent;
}

export interface OutgoingRequest {
  readonly key: string;
  readonly body: Buffer;
  readonly headers?: Readonly<Record<string, string>>;
  /** The time at which the request was scheduled. Latency counts from this moment. */
  readonly due?: number;
  readonly signal?: AbortSignal;
}

export function openTarget(url: string): Target {
  return { url, agent: new Agent({ keepAlive: true, maxSockets: Number.POSITIVE_INFINITY }) };
}

/** Encodes a form. A Buffer becomes the asset. */
export function multipart(fields: Readonly<Record<string, string | Buffer>>): Buffer {
  const parts = Object.entries(fields).flatMap(([name, value]) => {
    const file = typeof value === 'string' ? '' : '; filename="upload"\r\ncontent-type: application/octet-stream';
    const head = `--${BOUNDARY}\r\ncontent-disposition: form-data; name="${name}"${file}\r\n\r\n`;
    return [Buffer.from(head), Buffer.from(value as string), Buffer.from('\r\n')];
  });
  return Buffer.concat([...parts, Buffer.from(`--${BOUNDARY}--\r\n`)]);
}

export const FORM_TYPE = `multipart/form-data; boundary=${BOUNDARY}`;

export async function sendRequest(
  { url, agent }: Target,
  journal: Journal,
  { key, body, headers, signal, due = performance.now() }: OutgoingRequest,
): Promise<ResponseRecord> {
  const recordOf = (status: number, code: string, renderId = ''): ResponseRecord => {
    const receivedAt = performance.now();
    return { status, code, renderId, ms: receivedAt - due, receivedAt };
  };
  return await new Promise<ResponseRecord>((resolve) => {
    let isDone = false;
    const onBroken = (error: NodeJS.ErrnoException): void => {
      // Request and response can both report the same broken connection.
      if (isDone) return;
      isDone = true;
      const code = signal?.aborted ? 'canceled' : `broken: ${error.code ?? error.message}`;
      journal.count(code);
      resolve(recordOf(0, code));
    };
    const outgoing = request(`${url}/v1/overlay`, {
      method: 'POST',
      agent,
      headers: { 'x-api-key': key, 'content-type': FORM_TYPE, 'content-length': body.length, ...headers },
      timeout: TIMEOUT_MS,
      ...(signal && { signal }),
    });
    outgoing.once('timeout', () => outgoing.destroy(new Error('no response')));
    outgoing.on('error', onBroken);
    outgoing.once('response', (response) => {
      const chunks: Buffer[] = [];
      response.on('data', (chunk: Buffer) => chunks.push(chunk));
      response.on('error', onBroken);
      response.once('end', () => {
        isDone = true;
        const status = response.statusCode ?? 0;
        const { code, renderId } = journal.record(status, response.headers, Buffer.concat(chunks));
        resolve(recordOf(status, code, renderId));
      });
    });
    outgoing.end(body);
  });
}
