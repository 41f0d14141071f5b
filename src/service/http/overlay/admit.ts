// Decides before the body is read whether the request may continue.

import type { FastifyReply, FastifyRequest } from 'fastify';
import type { Admission } from '../access/admission.ts';
import type { Authenticator, RecognizedCaller } from '../access/authenticate.ts';
import type { Caller } from '../../account/caller.ts';
import { readIdempotencyKey } from '../access/idempotency-key.ts';
import type { Marketplace } from '../access/marketplace.ts';
import type { ResultLinks } from '../renders/result-links.ts';
import { prefersAsync } from '../renders/prefer.ts';
import { onClosed } from '../transport/on-closed.ts';
import { recordOf } from '../transport/request-record.ts';
import type { Refusals } from '../../renders/refusals.ts';

export interface AdmitDependencies {
  readonly authenticator: Authenticator;
  readonly marketplace: Marketplace;
  readonly admission: Admission;
  readonly refusals: Refusals;
  readonly links: ResultLinks;
}

export interface Admitted {
  readonly caller: Caller;
  readonly idempotencyKey: string | undefined;
  /** True if the `prefer` header asks for an asynchronous render. */
  readonly prefersAsync: boolean;
}

/** Identifies the caller of a request, or throws the error for them. */
export type Identify = (
  request: FastifyRequest,
  setHeaders: (headers: Record<string, string>) => void,
  onRecognized: (known: RecognizedCaller) => void,
) => Promise<Caller>;

/** Identifies the caller by the key or the marketplace secret in the headers. */
export function byCredentials(authenticator: Authenticator): Identify {
  return async (request, setHeaders, onRecognized) =>
    await authenticator.authenticate(request.headers, request.ip, setHeaders, onRecognized);
}

/** Checks in the documented order: key, state of the plan, rate, concurrency. */
export async function admit(
  { marketplace, admission, refusals, links }: AdmitDependencies,
  request: FastifyRequest,
  reply: FastifyReply,
  identify: Identify,
): Promise<Admitted> {
  // Nothing is charged until a render is delivered, and a failed response says so.
  if (marketplace.isClaimed(request.headers)) reply.header(marketplace.billingHeader, 'Credits=0');
  // CORS headers depend on the origin, so a cache must not share a response between origins.
  reply.header('vary', 'origin');
  const setHeaders = (headers: Record<string, string>): void => {
    reply.headers(headers);
  };
  const caller = await identify(request, setHeaders, (known) => {
    Object.assign(recordOf(request), known);
  });
  reply.header('x-credits-charged', '0');
  try {
    await admission.countRequest(caller, setHeaders);
    const isAsync = prefersAsync(request.headers);
    // An asynchronous render waits for a slot after the request has ended.
    if (isAsync) links.assertAsyncAvailable(request);
    onClosed(reply.raw, isAsync ? await admission.enterUpload(caller) : await admission.enter(caller));
    const idempotencyKey = readIdempotencyKey(request.headers);
    return { caller, idempotencyKey, prefersAsync: isAsync };
  } catch (error) {
    refusals.add(caller, error);
    throw error;
  }
}
