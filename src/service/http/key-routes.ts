// Operations that need a key. All share a rate limit of their own, which is generous because most of them are cheap. Those that aren't
// count against the plan as well.

import type { FastifyReply, FastifyRequest, RouteShorthandOptionsWithHandler } from 'fastify';
import { must } from '../../shared/must.ts';
import type { Authenticator } from './access/authenticate.ts';
import type { Caller } from '../account/caller.ts';
import type { Marketplace } from './access/marketplace.ts';
import type { Admission } from './access/admission.ts';
import { assertServerKey } from './access/server-key.ts';
import { accessOf, type BodyOf, type Operation, type OperationGroup, type Operations, routesOf } from './operation.ts';
import type { RouteGroup } from './route-group.ts';
import type { Keys } from '../store/accounts/keys.ts';
import type { Actor } from '../store/audit.ts';
import { recordOf } from './transport/request-record.ts';

export interface KeyRouteDependencies {
  readonly authenticator: Authenticator;
  readonly marketplace: Marketplace;
  readonly admission: Admission;
  readonly keys: Pick<Keys, 'get'>;
}

/** A request that passed the checks of its operation. */
export interface Call {
  readonly caller: Caller;
  readonly accountId: string;
  /** The author of changes, for the audit log. */
  readonly actor: Actor;
  /** The `{id}` or `{name}` of the path. */
  readonly id: string;
  readonly request: FastifyRequest;
  readonly reply: FastifyReply;
}

type Handlers<Members extends Operations> = {
  readonly [Id in keyof Members]: (call: Call) => Promise<BodyOf<Members[Id]>>;
};

/** The key is checked before the body is read. Handlers return the body of the response, if it has one. */
export type KeyRoutes = <Members extends Operations>(
  group: OperationGroup<Members>,
  handlers: Handlers<Members>,
) => RouteGroup;

export function createKeyRoutes(dependencies: KeyRouteDependencies): KeyRoutes {
  return (group, handlers) =>
    routesOf(group, (id, operation) => keyRoute(dependencies, group, operation, handlers[id]));
}

function keyRoute(
  { authenticator, marketplace, admission, keys }: KeyRouteDependencies,
  group: OperationGroup,
  operation: Operation,
  handle: (call: Call) => Promise<unknown>,
): RouteShorthandOptionsWithHandler {
  const callers = new WeakMap<FastifyRequest, Caller>();
  const access = accessOf(group, operation);
  const [status] = Object.keys(operation.success);
  return {
    onRequest: async (request, reply) => {
      reply.headers({ vary: 'origin', 'cache-control': 'no-store' });
      if (marketplace.isClaimed(request.headers)) reply.header(marketplace.billingHeader, 'Credits=0');
      const setHeaders = headerSetter(reply);
      const caller = await authenticator.authenticate(request.headers, request.ip, setHeaders, (known) => {
        Object.assign(recordOf(request), known);
      });
      await admission.countFreeRequest(caller, setHeaders);
      callers.set(request, caller);
    },
    handler: async (request, reply) => {
      const caller = must(callers.get(request), 'the caller of the request');
      const { accountId, keyId } = caller;
      if (access !== 'key') await assertServerKey(keys, caller, access, group.change);
      if (operation.rate === 'render') await admission.countRequest(caller, headerSetter(reply));
      const actor = keyId === undefined ? `marketplace:${marketplace.name}` : `key:${keyId}`;
      const [id = ''] = Object.values(request.params as Readonly<Record<string, string>>);
      const body = await handle({ caller, accountId, actor, id, request, reply });
      if (body === undefined) return await reply.code(204).send();
      return await reply.code(Number(status)).type('application/json; charset=utf-8').send(JSON.stringify(body));
    },
  };
}

function headerSetter(reply: FastifyReply): (headers: Record<string, string>) => void {
  return (headers) => void reply.headers(headers);
}
