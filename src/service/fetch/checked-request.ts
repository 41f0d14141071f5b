// Requests to URLs that callers choose. All addresses of the host must pass the policy first, and the connection is
// made to exactly these addresses, so a host name can't change its address in between.

import { type ClientRequest, type IncomingMessage, type OutgoingHttpHeaders, request as requestHttp } from 'node:http';
import { request as requestHttps } from 'node:https';
import { type AddressPolicy, hostOf } from './fetch-policy.ts';
import { fixedLookup, resolveHost } from './resolve-host.ts';

export interface CheckedRequest {
  readonly policy: AddressPolicy;
  /** DNS servers for tests. By default, the system's servers. */
  readonly dnsServers?: readonly string[] | undefined;
  readonly headers: OutgoingHttpHeaders;
  /** A body is sent with POST. Without one, the request is a GET. */
  readonly body?: string;
  /** Sends the body of a PUT. */
  readonly upload?: (outgoing: ClientRequest) => void;
}

/** The host has an address that the policy doesn't allow. Nothing was sent. */
export class ForbiddenAddress extends Error {
  readonly host: string;

  constructor(host: string) {
    super(`the host ${host} has an address that is not allowed`);
    this.name = 'ForbiddenAddress';
    this.host = host;
  }
}

/** Hosts send one or two such responses, if any: early hints, or the message that they are still processing. */
const MAX_INFORMATIONAL = 16;
/** Four times the headers that Node accepts. */
const MAX_BYTES_BEFORE_RESPONSE = 64 * 1024;

/** Aborting `attempt` has an effect until the response headers arrive. Aborting `signal` also ends the response. */
export async function sendChecked(
  url: URL,
  { policy, dnsServers, headers, body, upload }: CheckedRequest,
  attempt: AbortSignal,
  signal: AbortSignal,
): Promise<IncomingMessage> {
  const host = hostOf(url);
  const isTrusted = policy.isTrusted(host);
  const addresses = await abortable(resolveHost(host, { isTrusted, dnsServers }), attempt);
  // A single address that isn't public is enough to refuse, because the host may be an attempt to get past the check.
  if (!addresses.every(({ address }) => policy.allows(host, address))) throw new ForbiddenAddress(host);
  const send = url.protocol === 'https:' ? requestHttps : requestHttp;
  return await new Promise((resolve, reject) => {
    const outgoing = send(url, {
      method: upload ? 'PUT' : body === undefined ? 'GET' : 'POST',
      // There is no pool, because a connection is used once, for the addresses that were checked for it.
      agent: false,
      lookup: fixedLookup(addresses),
      headers,
    });
    // These are two functions, because both may listen to the same signal, which would otherwise call only one of them.
    const endAttempt = (): void => {
      outgoing.destroy();
    };
    const end = (): void => {
      outgoing.destroy();
    };
    attempt.addEventListener('abort', endAttempt, { once: true });
    // After the response headers, only the caller's own signal counts.
    signal.addEventListener('abort', end, { once: true });
    limitBeforeResponse(outgoing, reject);
    outgoing.once('response', (response) => {
      attempt.removeEventListener('abort', endAttempt);
      // An error without a listener would end the process.
      response.on('error', () => undefined);
      resolve(response);
    });
    outgoing.on('error', reject);
    outgoing.once('close', () => {
      signal.removeEventListener('abort', end);
      reject(new Error('the connection was closed'));
    });
    if (upload) upload(outgoing);
    else outgoing.end(body);
  });
}

/**
 * Node reads any number of informational responses and empty lines before the response. A host that sends nothing else
 * would keep the event loop busy, so the connection is closed when there are too many.
 */
export function limitBeforeResponse(outgoing: ClientRequest, reject: (error: Error) => void): void {
  let [informational, bytes, isResponding] = [0, 0, false];
  const limit = (count: number, max: number): void => {
    if (isResponding || count <= max) return;
    // Bytes that have already arrived are parsed to their end, at the least possible cost.
    outgoing.off('information', onInformation);
    reject(new TooMuchBeforeResponse());
    outgoing.destroy();
  };
  const onData = (chunk: Buffer): void => limit((bytes += chunk.length), MAX_BYTES_BEFORE_RESPONSE);
  const onInformation = (): void => limit((informational += 1), MAX_INFORMATIONAL);
  outgoing.on('information', onInformation);
  outgoing.once('socket', (socket) => {
    socket.on('data', onData);
    outgoing.once('response', () => {
      isResponding = true;
      socket.off('data', onData);
    });
  });
}

class TooMuchBeforeResponse extends Error {
  readonly code = 'TOO_MUCH_BEFORE_RESPONSE';
}

async function abortable<Value>(work: Promise<Value>, signal: AbortSignal): Promise<Value> {
  return await new Promise<Value>((resolve, reject) => {
    const abort = (): void => reject(signal.reason as Error);
    // A signal that is already aborted doesn't fire again.
    if (signal.aborted) abort();
    else signal.addEventListener('abort', abort, { once: true });
    work.then(resolve, reject);
  });
}
