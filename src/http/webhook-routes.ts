// The API of webhooks: endpoints, their secrets, and deliveries. It is only for keys that stay on a server, because a
// key in a web page could send itself the results of the whole account.

import type { FastifyReply, FastifyRequest, RouteShorthandOptionsWithHandler } from 'fastify';
import type { ResponseOf } from '../api/response-schemas.ts';
import { SENT_EVENTS } from '../api/webhook-schemas.ts';
import { pointerTo } from '../caption/quote.ts';
import { AppError, type FieldFault } from '../errors.ts';
import type { Actor } from '../store/audit.ts';
import type { Keys } from '../store/accounts/keys.ts';
import { DELIVERY_STATUSES } from '../store/webhooks/webhook.ts';
import type { Caller } from '../account/caller.ts';
import type { Admission } from './access/admission.ts';
import { assertServerKey } from './access/server-key.ts';
import type { KeyRoute } from './key-route.ts';
import { receiveSmall } from './overlay/receive.ts';
import { idOf, pageOf } from './renders/render-routes.ts';
import { ASK_LATER } from './renders/render-replies.ts';
import type { RouteGroup } from './route-group.ts';
import { rotationOf } from '../webhooks/rotation-field.ts';
import type { WebhookChanges } from '../webhooks/webhook-changes.ts';
import {
  DELIVERIES_PATH,
  deliveryToJson,
  detailsToJson,
  ENDPOINTS_PATH,
  endpointToJson,
  SECRET_PATH,
} from '../webhooks/webhook-view.ts';

export interface WebhookRouteDependencies {
  readonly keyRoute: KeyRoute;
  readonly admission: Admission;
  readonly changes: WebhookChanges;
  readonly keys: Pick<Keys, 'get'>;
  /** Fires when running requests must end. */
  readonly shutdown: AbortSignal;
  /** Called when there are webhooks to send. */
  readonly wake: () => void;
}

/** A request with a key that may manage webhooks. */
interface ServerCall {
  readonly caller: Caller;
  readonly accountId: string;
  readonly actor: Actor;
  readonly request: FastifyRequest;
  readonly reply: FastifyReply;
}

type HandleCall = (call: ServerCall) => Promise<object | undefined>;

export function webhookRoutes(dependencies: WebhookRouteDependencies): RouteGroup {
  const { changes } = dependencies;
  const route = (handle: HandleCall): RouteShorthandOptionsWithHandler =>
    dependencies.keyRoute(async (caller, request, reply) => {
      const actor = await assertServerKey(dependencies.keys, caller, 'manage webhooks');
      return await handle({ caller, accountId: caller.accountId, actor, request, reply });
    });
  const endpoint = `${ENDPOINTS_PATH}/:id`;
  const post: Readonly<Record<string, HandleCall>> = {
    [ENDPOINTS_PATH]: async (call) => await create(dependencies, call),
    [`${endpoint}/enable`]: async (call) => await setEnabled(dependencies, call, true),
    [`${endpoint}/disable`]: async (call) => await setEnabled(dependencies, call, false),
    [`${endpoint}/rotate-secret`]: async (call) => await rotate(dependencies, call),
    [`${endpoint}/test`]: async (call) => await sendTest(dependencies, call),
    [`${DELIVERIES_PATH}/:id/resend`]: async (call) => await sendAgain(dependencies, call),
    [`${SECRET_PATH}/rotate`]: async (call) => await rotateAccountSecret(dependencies, call),
  };
  const get: Readonly<Record<string, HandleCall>> = {
    [ENDPOINTS_PATH]: async ({ accountId }) => ({ endpoints: (await changes.list(accountId)).map(endpointToJson) }),
    [endpoint]: async ({ accountId, request }) => endpointToJson(await changes.find(accountId, idOf(request))),
    [DELIVERIES_PATH]: async (call) => await listDeliveries(dependencies, call),
    [`${DELIVERIES_PATH}/:id`]: async ({ accountId, request }) =>
      detailsToJson(await changes.findDelivery(accountId, idOf(request))),
    [SECRET_PATH]: async ({ accountId }) => ({ secret: (await changes.accountSecrets(accountId))[0]?.secret }),
  };
  return {
    register: (app) => {
      for (const [path, handle] of Object.entries(get)) app.get(path, route(handle));
      for (const [path, handle] of Object.entries(post)) app.post(path, route(handle));
      app.patch(
        endpoint,
        route(async (call) => await update(dependencies, call)),
      );
      app.delete(
        endpoint,
        route(async (call) => await remove(dependencies, call)),
      );
    },
  };
}

async function create(
  { changes, admission, shutdown }: WebhookRouteDependencies,
  { caller, accountId, actor, request, reply }: ServerCall,
): Promise<ResponseOf<'WebhookEndpointWithSecret'>> {
  await admission.countRequest(caller, (headers) => {
    reply.headers(headers);
  });
  const { url, events } = await endpointFields(shutdown, request, reply);
  const { endpoint, secret } = await changes.create(accountId, changes.check(url, events), actor);
  reply.code(201).header('location', `${ENDPOINTS_PATH}/${endpoint.id}`);
  return { ...endpointToJson(endpoint), secret };
}

async function update(
  { changes, shutdown }: WebhookRouteDependencies,
  { accountId, actor, request, reply }: ServerCall,
): Promise<ResponseOf<'WebhookEndpoint'>> {
  const change = changes.checkChange(await endpointFields(shutdown, request, reply));
  return endpointToJson(await changes.update(accountId, idOf(request), change, actor));
}

async function endpointFields(
  shutdown: AbortSignal,
  request: FastifyRequest,
  reply: FastifyReply,
): Promise<{ readonly url?: unknown; readonly events?: unknown }> {
  const { fields } = await receiveSmall(request, reply, { shutdown, advice: 'Send the endpoint as application/json.' });
  const known = Object.fromEntries(fields.map(({ name, value }) => [name, value]));
  assertOnly(Object.keys(known), ['url', 'events']);
  return known;
}

async function remove({ changes }: WebhookRouteDependencies, call: ServerCall): Promise<undefined> {
  await changes.remove(call.accountId, idOf(call.request), call.actor);
  call.reply.code(204);
}

async function setEnabled(
  { changes }: WebhookRouteDependencies,
  { accountId, actor, request }: ServerCall,
  isEnabled: boolean,
): Promise<ResponseOf<'WebhookEndpoint'>> {
  return endpointToJson(await changes.setEnabled(accountId, idOf(request), isEnabled, actor));
}

async function rotate(
  dependencies: WebhookRouteDependencies,
  call: ServerCall,
): Promise<ResponseOf<'WebhookEndpointWithSecret'>> {
  const { accountId, actor, request } = call;
  const overlapMs = await overlapOf(dependencies, call);
  const secret = await dependencies.changes.rotate(accountId, idOf(request), overlapMs, actor);
  return { ...endpointToJson(await dependencies.changes.find(accountId, idOf(request))), secret };
}

async function rotateAccountSecret(
  dependencies: WebhookRouteDependencies,
  call: ServerCall,
): Promise<ResponseOf<'WebhookSecret'>> {
  const overlapMs = await overlapOf(dependencies, call);
  return { secret: await dependencies.changes.rotateAccountSecret(call.accountId, overlapMs, call.actor) };
}

/** The body is optional. */
async function overlapOf({ shutdown }: WebhookRouteDependencies, { request, reply }: ServerCall): Promise<number> {
  const { 'content-length': length = '0', 'transfer-encoding': encoding } = request.headers;
  if (length === '0' && encoding === undefined) return rotationOf(undefined);
  const { fields } = await receiveSmall(request, reply, {
    shutdown,
    advice: 'Send the body as application/json, or none.',
  });
  assertOnly(
    fields.map(({ name }) => name),
    ['overlap_seconds'],
  );
  return rotationOf(fields[0]?.value);
}

async function sendTest(
  { changes, admission, wake }: WebhookRouteDependencies,
  { caller, accountId, request, reply }: ServerCall,
): Promise<ResponseOf<'WebhookDelivery'>> {
  await admission.countRequest(caller, (headers) => {
    reply.headers(headers);
  });
  const delivery = await changes.sendTest(accountId, idOf(request));
  wake();
  reply.code(202).headers({ location: `${DELIVERIES_PATH}/${delivery.id}`, ...ASK_LATER });
  return deliveryToJson(delivery);
}

async function sendAgain(
  { changes, admission, wake }: WebhookRouteDependencies,
  { caller, accountId, request, reply }: ServerCall,
): Promise<ResponseOf<'WebhookDelivery'>> {
  await admission.countRequest(caller, (headers) => {
    reply.headers(headers);
  });
  const delivery = await changes.sendAgain(accountId, idOf(request));
  wake();
  reply.code(202).headers(ASK_LATER);
  return deliveryToJson(delivery);
}

async function listDeliveries(
  { changes }: WebhookRouteDependencies,
  { accountId, request }: ServerCall,
): Promise<ResponseOf<'WebhookDeliveryList'>> {
  const { limit, cursor, text } = pageOf(request);
  const filter = {
    endpointId: text('endpoint_id'),
    type: choiceOf('type', text('type'), SENT_EVENTS),
    status: choiceOf('status', text('status'), DELIVERY_STATUSES),
  };
  const rows = await changes.listDeliveries(accountId, { ...filter, limit: limit + 1, after: cursor });
  const page = rows.slice(0, limit);
  return {
    deliveries: page.map(deliveryToJson),
    next_cursor: rows.length > limit ? (page.at(-1)?.id ?? null) : null,
  };
}

function choiceOf<Choice extends string>(
  name: string,
  value: string | undefined,
  choices: readonly Choice[],
): Choice | undefined {
  const choice = choices.find((one) => one === value);
  if (value === undefined || choice !== undefined) return choice;
  const detail = `${name} must be one of ${choices.join(', ')}.`;
  throw new AppError('invalid_fields', detail, {
    faults: [{ pointer: pointerTo(name), code: 'invalid_choice', detail }],
  });
}

function assertOnly(names: readonly string[], known: readonly string[]): void {
  const faults = names
    .filter((name) => !known.includes(name))
    .map((name): FieldFault => {
      const detail = `Unknown field. Valid fields are ${known.join(', ')}.`;
      return { pointer: pointerTo(name), code: 'unknown_field', detail };
    });
  const [first] = faults;
  if (first) throw new AppError('invalid_fields', first.detail, { faults });
}
