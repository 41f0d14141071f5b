// Stripe's API on loopback for the real `stripe` library: form-encoded requests, idempotency keys and faults on demand.

import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { FakeAccount, FakeError, type FakePrice } from './fake-account.ts';
import { type ApiRequest, respond, type Value, type Values } from './fake-api.ts';

export const SECRET_KEY = 'sk_test_4eC39HqLyjWDarjtT1';

/** A fault of one request. `lost` means that it is carried out, but the response never arrives. */
export type Fault = 'lost' | 'refused' | 402 | 429 | 500;

interface StoredResponse {
  readonly fingerprint: string;
  readonly status: number;
  readonly body: string;
}

export class FakeStripe {
  readonly account: FakeAccount;
  /** Every request, as `POST /v1/customers`. */
  readonly requests: string[] = [];
  readonly faults: Fault[] = [];
  /** Called after a request was read. */
  beforeResponse: (call: ApiRequest) => Promise<void> = async () => undefined;
  /** Called after the response was computed and before it is sent. A change made here is not in the response. */
  afterLookup: (call: ApiRequest) => Promise<void> = async () => undefined;
  readonly #server: Server;
  readonly #responses = new Map<string, StoredResponse>();

  private constructor(account: FakeAccount) {
    this.account = account;
    this.#server = createServer((request, response) => {
      this.#serve(request, response).catch((error: unknown) => response.destroy(error as Error));
    });
  }

  static async start(prices: readonly FakePrice[]): Promise<FakeStripe> {
    const fake = new FakeStripe(new FakeAccount(prices));
    await new Promise<void>((resolve) => {
      fake.#server.listen(0, '127.0.0.1', resolve);
    });
    return fake;
  }

  get url(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  /** The clock of the account, for the store as well. */
  now(): Date {
    return new Date(this.account.now * 1_000);
  }

  async close(): Promise<void> {
    this.#server.closeAllConnections();
    await new Promise((resolve) => {
      this.#server.close(resolve);
    });
  }

  async #serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const chunks: Buffer[] = [];
    for await (const chunk of request as AsyncIterable<Buffer>) chunks.push(chunk);
    const { pathname, search } = new URL(request.url ?? '/', 'http://fake');
    const form = request.method === 'GET' ? search.slice(1) : Buffer.concat(chunks).toString();
    const call: ApiRequest = { method: request.method ?? '', path: pathname, values: decodeForm(form) };
    this.requests.push(`${call.method} ${call.path}`);
    await this.beforeResponse(call);
    const fault = this.faults.shift();
    if (fault === 'refused') {
      response.destroy();
      return;
    }
    const { status, body } = typeof fault === 'number' ? failure(fault) : this.#perform(request, call, form);
    await this.afterLookup(call);
    if (fault === 'lost') {
      response.destroy();
      return;
    }
    response.writeHead(status, { 'content-type': 'application/json', 'request-id': 'req_fake' }).end(body);
  }

  #perform({ headers }: IncomingMessage, call: ApiRequest, form: string): { status: number; body: string } {
    if (headers.authorization !== `Bearer ${SECRET_KEY}`) {
      return problem(new FakeError(401, 'invalid_request_error', `Invalid API Key provided: ${headers.authorization}`));
    }
    const key = headers['idempotency-key'];
    const fingerprint = `${call.method} ${call.path} ${form}`;
    const before = typeof key === 'string' ? this.#responses.get(key) : undefined;
    if (before !== undefined) {
      if (before.fingerprint === fingerprint) return before;
      return problem(new FakeError(400, 'idempotency_error', 'Keys for idempotent requests can only be used once.'));
    }
    const result = this.#respond(call);
    if (typeof key === 'string') this.#responses.set(key, { fingerprint, ...result });
    return result;
  }

  #respond(call: ApiRequest): { status: number; body: string } {
    try {
      return { status: 200, body: JSON.stringify(respond(this.account, call)) };
    } catch (error) {
      if (error instanceof FakeError) return problem(error);
      throw error;
    }
  }
}

function failure(status: 402 | 429 | 500): { status: number; body: string } {
  if (status === 402) return problem(new FakeError(402, 'card_error', 'Your card was declined.', 'card_declined'));
  if (status === 429) return problem(new FakeError(429, 'invalid_request_error', 'Too many requests.', 'rate_limit'));
  return problem(new FakeError(500, 'api_error', 'An error occurred.'));
}

function problem({ status, type, code, message, param }: FakeError): { status: number; body: string } {
  return { status, body: JSON.stringify({ error: { type, code, message, param } }) };
}

/** Turns `a[b][0]=c` into nested values. */
function decodeForm(form: string): Values {
  const values: Values = {};
  for (const [name, value] of new URLSearchParams(form)) {
    const steps = name.split(/\]?\[|\]/u).filter((step) => step !== '');
    const last = steps.pop() ?? '';
    let place: Values = values;
    for (const step of steps) {
      const inner: Value = place[step] ?? {};
      place[step] = inner;
      place = inner as Values;
    }
    place[last] = value;
  }
  return values;
}
