// Requests with a key, other than renders that the caller waits for. They share a generous rate limit of their own. Those
// that cost more are also counted by their handlers.

import type { FastifyReply, FastifyRequest, RouteShorthandOptionsWithHandler } from 'fastify';
import { must } from '../primitives/must.ts';
import type { Authenticator } from './access/authenticate.ts';
import type { Caller } from '../account/caller.ts';
import type { Marketplace } from './access/marketplace.ts';
import type { Admission } from './access/admission.ts';
import { recordOf } from './transport/request-record.ts';

export interface KeyRouteDependencies {
  readonly authenticator: Authenticator;
  readonly marketplace: Marketplace;
  readonly admission: Admission;
}

type Handle = (caller: Caller, request: FastifyRequest, reply: FastifyReply) => Promise<object | undefined>;

/** The key is checked before the body is read. `handle` returns the body of the response, if it has one. */
export type KeyRoute = (handle: Handle) => RouteShorthandOptionsWithHandler;

export function createKeyRoute({ authenticator, marketplace, admission }: KeyRouteDependencies): KeyRoute {
  const callers = new WeakMap<FastifyRequest, Caller>();
  return (handle) => ({
    onRequest: async (request, reply) => {
      reply.headers({ vary: 'origin', 'cache-control': 'no-store' });
      if (marketplace.isClaimed(request.headers)) reply.header(marketplace.billingHeader, 'Credits=0');
      const setHeaders = (headers: Record<string, string>): void => {
        reply.headers(headers);
      };
      const caller = await authenticator.authenticate(request.headers, request.ip, setHeaders, (known) => {
        Object.assign(recordOf(request), known);
      });
      await admission.countFreeRequest(caller, setHeaders);
      callers.set(request, caller);
    },
    handler: async (request, reply) => {
      const body = await handle(must(callers.get(request), 'the caller of the request'), request, reply);
      if (body === undefined) return await reply.send();
      return await reply.type('application/json; charset=utf-8').send(JSON.stringify(body));
    },
  });
}
