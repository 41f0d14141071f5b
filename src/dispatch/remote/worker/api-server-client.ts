// A worker's calls to the front that a ticket names. TLS, where the front has it, is verified as everywhere.

import {
  Agent,
  type ClientRequest,
  type IncomingMessage,
  type OutgoingHttpHeaders,
  request as plainRequest,
} from 'node:http';
import { Agent as SecureAgent, request as secureRequest } from 'node:https';

/** The front cannot be reached, or the line broke. Another worker may be luckier. */
export class ApiServerUnreachable extends Error {
  constructor(cause?: unknown) {
    super('the front cannot be reached', { cause });
    this.name = 'FrontUnreachable';
  }
}

/** The front does not want it any more: somebody was faster, or the caller has left. */
export class TicketRejected extends Error {
  readonly status: number;

  constructor(status: number) {
    super(`the front answered ${status}`);
    this.name = 'Unwanted';
    this.status = status;
  }
}

/** No byte in either direction for this long: the front is gone without a word. */
const SILENCE_MS = 5_000;

export interface ApiServerRequest {
  readonly method: 'GET' | 'POST' | 'PUT';
  readonly path: string;
  readonly token: string;
  readonly headers?: OutgoingHttpHeaders;
  readonly signal: AbortSignal;
  /** Sends the body and ends the request. */
  readonly send?: (request: ClientRequest) => Promise<void>;
}

export class ApiServerClient {
  readonly #agents = { plain: new Agent(OPTIONS), secure: new SecureAgent(OPTIONS) };

  /** Resolves with the answer's beginning. A refusal rejects with `Unwanted`. */
  async call(
    front: string,
    { method, path, token, headers, signal, send }: ApiServerRequest,
  ): Promise<IncomingMessage> {
    const url = new URL(path, front);
    const isSecure = url.protocol === 'https:';
    const options = { method, headers: { ...headers, authorization: `Bearer ${token}` }, signal, timeout: SILENCE_MS };
    const request = isSecure
      ? secureRequest(url, { ...options, agent: this.#agents.secure })
      : plainRequest(url, { ...options, agent: this.#agents.plain });
    request.setNoDelay(true);
    request.once('timeout', () => request.destroy(new ApiServerUnreachable()));
    const answered = new Promise<IncomingMessage>((resolve, reject) => {
      request.once('response', resolve);
      request.on('error', reject);
    });
    // An early refusal breaks the sending; the refusal is what counts.
    const sent = send ? send(request).catch((error: unknown) => request.destroy(error as Error)) : request.end();
    const response = await answered.catch((error: unknown) => {
      signal.throwIfAborted();
      throw error instanceof ApiServerUnreachable ? error : new ApiServerUnreachable(error);
    });
    const status = response.statusCode ?? 0;
    if (status >= 200 && status < 300) return response;
    response.resume();
    await sent;
    if (status >= 500) throw new ApiServerUnreachable(new Error(`the front answered ${status}`));
    throw new TicketRejected(status);
  }

  close(): void {
    this.#agents.plain.destroy();
    this.#agents.secure.destroy();
  }
}

const OPTIONS = { keepAlive: true, maxFreeSockets: 64 };
