// Decides before the body is read whether the request may go on.

import type { FastifyReply, FastifyRequest } from 'fastify';
import type { Renderer } from '../../dispatch/renderer.ts';
import type { Admission } from '../limits/admission.ts';
import type { Authenticator } from '../access/authenticate.ts';
import type { Caller } from '../access/caller.ts';
import { readIdempotencyKey } from './idempotency.ts';
import type { Marketplace } from '../access/marketplace.ts';
import { onClosed } from '../transport/on-closed.ts';
import { recordOf } from '../transport/request-record.ts';
import type { Refusals } from './refusals.ts';

export interface AdmitDependencies {
  readonly authenticator: Authenticator;
  readonly marketplace: Marketplace;
  readonly admission: Admission;
  readonly refusals: Refusals;
  readonly renderer: Renderer;
}

export interface Admitted {
  readonly caller: Caller;
  readonly idempotencyKey: string | undefined;
}

/** In the documented order: key, state of the plan, rate, concurrency; then room in the queue. */
export async function admit(
  { authenticator, marketplace, admission, refusals, renderer }: AdmitDependencies,
  request: FastifyRequest,
  reply: FastifyReply,
): Promise<Admitted> {
  // Nothing is charged until a render is delivered; a failed response says so.
  if (marketplace.isClaimed(request.headers)) reply.header(marketplace.billingHeader, 'Credits=0');
  // CORS headers depend on the origin, so a cache must not share a response between origins.
  reply.header('vary', 'origin');
  const setHeaders = (headers: Record<string, string>): void => {
    reply.headers(headers);
  };
  const caller = await authenticator.authenticate(request.headers, request.ip, setHeaders, (known) => {
    Object.assign(recordOf(request), known);
  });
  reply.header('x-credits-charged', '0');
  try {
    await admission.countRequest(caller, setHeaders);
    onClosed(reply.raw, await admission.enter(caller));
    const idempotencyKey = readIdempotencyKey(request.headers);
    renderer.assertRoom(caller.accountId);
    return { caller, idempotencyKey };
  } catch (error) {
    refusals.add(caller, error);
    throw error;
  }
}
