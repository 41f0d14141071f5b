// One request as cheaply as a client can send it: the body is built beforehand and the connection kept. Never throws; a
// connection that breaks is an answer too.

import { Agent, request } from 'node:http';
import type { Answer, Journal } from './journal.ts';

const BOUNDARY = 'storybar-prove-boundary';
/** Longer than any deadline of a server under proof. */
const PATIENCE_MS = 90_000;

export interface Target {
  readonly url: string;
  readonly agent: Agent;
}

export interface Call {
  readonly key: string;
  readonly body: Buffer;
  readonly headers?: Readonly<Record<string, string>>;
  /** When it should have been sent; latency counts from here. */
  readonly due?: number;
  readonly signal?: AbortSignal;
}

export function openTarget(url: string): Target {
  return { url, agent: new Agent({ keepAlive: true, maxSockets: Number.POSITIVE_INFINITY }) };
}

/** A form as bytes. A Buffer becomes the asset. */
export function multipart(fields: Readonly<Record<string, string | Buffer>>): Buffer {
  const parts = Object.entries(fields).flatMap(([name, value]) => {
    const file = typeof value === 'string' ? '' : '; filename="upload"\r\ncontent-type: application/octet-stream';
    const head = `--${BOUNDARY}\r\ncontent-disposition: form-data; name="${name}"${file}\r\n\r\n`;
    return [Buffer.from(head), Buffer.from(value as string), Buffer.from('\r\n')];
  });
  return Buffer.concat([...parts, Buffer.from(`--${BOUNDARY}--\r\n`)]);
}

export const FORM_TYPE = `multipart/form-data; boundary=${BOUNDARY}`;

export async function ask({ url, agent }: Target, journal: Journal, call: Call): Promise<Answer> {
  const { key, body, headers, signal, due = performance.now() } = call;
  const answered = (status: number, code: string, renderId = ''): Answer => {
    const at = performance.now();
    return { status, code, renderId, ms: at - due, at };
  };
  return await new Promise<Answer>((resolve) => {
    let over = false;
    const broken = (error: NodeJS.ErrnoException): void => {
      // A connection may break in more than one place; it is one answer.
      if (over) return;
      over = true;
      const code = signal?.aborted ? 'gave up' : `broken: ${error.code ?? error.message}`;
      journal.count(code);
      resolve(answered(0, code));
    };
    const sent = request(`${url}/v1/overlay`, {
      method: 'POST',
      agent,
      headers: { 'x-api-key': key, 'content-type': FORM_TYPE, 'content-length': body.length, ...headers },
      timeout: PATIENCE_MS,
      ...(signal && { signal }),
    });
    sent.once('timeout', () => sent.destroy(new Error('no answer')));
    sent.on('error', broken);
    sent.once('response', (response) => {
      const chunks: Buffer[] = [];
      response.on('data', (chunk: Buffer) => chunks.push(chunk));
      response.on('error', broken);
      response.once('end', () => {
        over = true;
        const status = response.statusCode ?? 0;
        const { code, renderId } = journal.read(status, response.headers, Buffer.concat(chunks));
        resolve(answered(status, code, renderId));
      });
    });
    sent.end(body);
  });
}
