// Before the body: who is it, and may they come in now?

import type { FastifyReply, FastifyRequest } from 'fastify';
import type { Renderer } from '../../dispatch/renderer.ts';
import type { Admission } from '../limits/admission.ts';
import type { Authenticator } from '../access/authenticate.ts';
import type { Caller } from '../access/caller.ts';
import type { Habits } from './habits.ts';
import { readIdempotencyKey } from './idempotency.ts';
import type { Marketplace } from '../access/marketplace.ts';
import { onClosed } from '../transport/on-closed.ts';
import type { Refusals } from './refusals.ts';

export interface AdmitDependencies {
  readonly authenticator: Authenticator;
  readonly marketplace: Marketplace;
  readonly admission: Admission;
  readonly refusals: Refusals;
  readonly renderer: Renderer;
  readonly habits: Habits;
}

export interface Admitted {
  readonly caller: Caller;
  readonly idempotencyKey: string | undefined;
}

/** The order is the contract's: key, state of the plan, rate, concurrency; then whether there is room at all. */
export async function admit(
  { authenticator, marketplace, admission, refusals, renderer, habits }: AdmitDependencies,
  request: FastifyRequest,
  reply: FastifyReply,
): Promise<Admitted> {
  // Until something is delivered, nothing is charged; an answer that fails says so too.
  if (marketplace.isClaimed(request.headers)) reply.header(marketplace.billingHeader, 'Credits=0');
  // What a cache keeps for one page must not be shown to another.
  reply.header('vary', 'origin');
  const setHeaders = (headers: Record<string, string>): void => {
    reply.headers(headers);
  };
  const caller = await authenticator.authenticate(request.headers, request.ip, setHeaders);
  reply.header('x-credits-charged', '0');
  try {
    await admission.countRequest(caller, setHeaders);
    onClosed(reply.raw, await admission.enter(caller));
    const idempotencyKey = readIdempotencyKey(request.headers);
    renderer.assertRoom(caller.accountId, habits.guess(caller.accountId));
    return { caller, idempotencyKey };
  } catch (error) {
    refusals.add(caller, error);
    throw error;
  }
}
