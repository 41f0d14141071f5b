// A worker's HTTP requests to the API server that a ticket names. TLS certificates are verified as usual.

import {
  Agent,
  type ClientRequest,
  type IncomingMessage,
  type OutgoingHttpHeaders,
  request as plainRequest,
} from 'node:http';
import { Agent as SecureAgent, request as secureRequest } from 'node:https';

/** The API server can't be reached, or the connection broke. Another worker may succeed. */
export class ApiServerUnreachable extends Error {
  constructor(cause?: unknown) {
    super('the API server is unreachable', { cause });
    this.name = 'ApiServerUnreachable';
  }
}

/** The API server no longer needs the work: another worker was faster, or the client has left. */
export class TicketRejected extends Error {
  readonly status: number;

  constructor(status: number) {
    super(`the API server responded with ${status}`);
    this.name = 'TicketRejected';
    this.status = status;
  }
}

/** Without a byte in either direction for this long, the API server counts as gone. */
const IDLE_TIMEOUT_MS = 5_000;
const AGENT_OPTIONS = { keepAlive: true, maxFreeSockets: 64 };

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
  readonly #agents = { plain: new Agent(AGENT_OPTIONS), secure: new SecureAgent(AGENT_OPTIONS) };

  /** Resolves when the response headers have arrived. A 4xx rejects with `TicketRejected`. */
  async request(
    apiServer: string,
    { method, path, token, headers, signal, send }: ApiServerRequest,
  ): Promise<IncomingMessage> {
    const url = new URL(path, apiServer);
    const options = {
      method,
      headers: { ...headers, authorization: `Bearer ${token}` },
      signal,
      timeout: IDLE_TIMEOUT_MS,
    };
    const request =
      url.protocol === 'https:'
        ? secureRequest(url, { ...options, agent: this.#agents.secure })
        : plainRequest(url, { ...options, agent: this.#agents.plain });
    request.setNoDelay(true);
    request.once('timeout', () => request.destroy(new ApiServerUnreachable()));
    const responded = new Promise<IncomingMessage>((resolve, reject) => {
      request.once('response', resolve);
      request.on('error', reject);
    });
    // An early response breaks the upload; then the response is what counts.
    const sent = send
      ? send(request).catch((error: unknown) => request.destroy(new ApiServerUnreachable(error)))
      : request.end();
    const response = await responded.catch((error: unknown) => {
      signal.throwIfAborted();
      throw error instanceof ApiServerUnreachable ? error : new ApiServerUnreachable(error);
    });
    const status = response.statusCode ?? 0;
    if (status >= 200 && status < 300) return response;
    response.resume();
    await sent;
    if (status >= 500) throw new ApiServerUnreachable(new Error(`the API server responded with ${status}`));
    throw new TicketRejected(status);
  }

  close(): void {
    this.#agents.plain.destroy();
    this.#agents.secure.destroy();
  }
}
