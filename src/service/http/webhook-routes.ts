// The API of webhooks: endpoints, their secrets, and deliveries. It is only for keys that stay on a server, because a
// key in a web page could send itself the results of the whole account.

import type { FastifyReply } from 'fastify';
import type { ResponseOf } from '../api/response-schemas.ts';
import { ID } from '../api/schema-parts.ts';
import { SENT_EVENTS } from '../api/webhook-schemas.ts';
import { pointerTo } from '../../engine/caption/quote.ts';
import { AppError, type FieldFault, invalidFields } from '../../shared/errors.ts';
import { must } from '../../shared/must.ts';
import { DELIVERY_STATUSES, type WebhookDelivery } from '../store/webhooks/webhook.ts';
import type { Call, KeyRoutes } from './key-routes.ts';
import { DELETED, describeOperations, inPath, json, jsonBody, query } from './operation.ts';
import { receiveSmall } from './overlay/receive.ts';
import { pageOf, pageParameters } from './query.ts';
import { ASK_LATER } from './renders/render-replies.ts';
import type { RouteGroup } from './route-group.ts';
import { rotationOf } from '../webhooks/rotation-field.ts';
import { MAX_ENDPOINTS, type WebhookChanges } from '../webhooks/webhook-changes.ts';
import {
  DELIVERIES_PATH,
  deliveryToJson,
  detailsToJson,
  ENDPOINTS_PATH,
  endpointToJson,
  SECRET_PATH,
} from '../webhooks/webhook-view.ts';

export interface WebhookRouteDependencies {
  readonly changes: WebhookChanges;
  /** Fires when running requests must end. */
  readonly shutdown: AbortSignal;
  /** Called when there are webhooks to send. */
  readonly wake: () => void;
}

const ENDPOINT_PATH = `${ENDPOINTS_PATH}/{id}` as const;
/** Operations of one endpoint or delivery. */
const ONE = { parameters: [inPath('id', 'The id in the list.', ID)], errors: ['webhook_not_found'] } as const;
const SENT = {
  ...ONE,
  rate: 'render',
  success: {
    202: json('The delivery. It is sent within a second or two.', 'WebhookDelivery', ['location', 'retry-after']),
  },
  errors: [...ONE.errors, 'webhook_disabled'],
} as const;

export const WEBHOOK_OPERATIONS = describeOperations(
  { tag: 'Webhooks', access: 'server key', change: 'manage webhooks' },
  {
    listWebhookEndpoints: {
      route: `GET ${ENDPOINTS_PATH}`,
      summary: 'List webhook endpoints',
      success: { 200: json('All endpoints.', 'WebhookEndpointList') },
    },
    createWebhookEndpoint: {
      route: `POST ${ENDPOINTS_PATH}`,
      summary: 'Add a webhook endpoint',
      description: `An account can have up to ${MAX_ENDPOINTS} endpoints.`,
      rate: 'render',
      body: jsonBody('WebhookEndpointRequest'),
      success: { 201: json('Added. Keep `secret` to verify webhooks.', 'WebhookEndpointWithSecret', ['location']) },
      errors: ['too_many_webhooks'],
    },
    getWebhookEndpoint: {
      route: `GET ${ENDPOINT_PATH}`,
      summary: 'Get a webhook endpoint',
      success: { 200: json('The endpoint.', 'WebhookEndpoint') },
      ...ONE,
    },
    updateWebhookEndpoint: {
      route: `PATCH ${ENDPOINT_PATH}`,
      summary: 'Change the URL or the events of a webhook endpoint',
      description:
        'What is left out stays as it is. Waiting webhooks go to the new URL, and the secret stays the same.',
      body: jsonBody('WebhookEndpointChange'),
      success: { 200: json('The changed endpoint.', 'WebhookEndpoint') },
      ...ONE,
    },
    deleteWebhookEndpoint: {
      route: `DELETE ${ENDPOINT_PATH}`,
      summary: 'Delete a webhook endpoint',
      success: DELETED,
      ...ONE,
    },
    enableWebhookEndpoint: {
      route: `POST ${ENDPOINT_PATH}/enable`,
      summary: 'Enable a webhook endpoint',
      success: { 200: json('Enabled.', 'WebhookEndpoint') },
      ...ONE,
    },
    disableWebhookEndpoint: {
      route: `POST ${ENDPOINT_PATH}/disable`,
      summary: 'Disable a webhook endpoint',
      success: { 200: json('Disabled.', 'WebhookEndpoint') },
      ...ONE,
    },
    rotateWebhookSecret: {
      route: `POST ${ENDPOINT_PATH}/rotate-secret`,
      summary: 'Give a webhook endpoint a new secret',
      body: jsonBody('SecretRotation', false),
      success: { 200: json('The new secret.', 'WebhookEndpointWithSecret') },
      ...ONE,
    },
    testWebhookEndpoint: {
      route: `POST ${ENDPOINT_PATH}/test`,
      summary: 'Send a test event to a webhook endpoint',
      ...SENT,
    },
    listWebhookDeliveries: {
      route: `GET ${DELIVERIES_PATH}`,
      summary: 'List webhook deliveries, newest first',
      parameters: [
        query('endpoint_id', 'Only deliveries to this endpoint.', ID),
        query('type', 'Only deliveries of this event.', { type: 'string', enum: SENT_EVENTS }),
        query('status', 'Only deliveries with this status.', { type: 'string', enum: DELIVERY_STATUSES }),
        ...pageParameters('Deliveries per page.'),
      ],
      success: { 200: json('A page of deliveries.', 'WebhookDeliveryList') },
    },
    getWebhookDelivery: {
      route: `GET ${DELIVERIES_PATH}/{id}`,
      summary: 'Get a webhook delivery with its attempts',
      success: { 200: json('The delivery.', 'WebhookDeliveryDetails') },
      ...ONE,
    },
    resendWebhookDelivery: {
      route: `POST ${DELIVERIES_PATH}/{id}/resend`,
      summary: 'Send a webhook again',
      ...SENT,
    },
    getWebhookSecret: {
      route: `GET ${SECRET_PATH}`,
      summary: 'Get the secret that signs webhooks to `webhook_url`',
      success: { 200: json('The secret.', 'WebhookSecret') },
    },
    rotateAccountWebhookSecret: {
      route: `POST ${SECRET_PATH}/rotate`,
      summary: 'Get a new secret for webhooks to `webhook_url`',
      body: jsonBody('SecretRotation', false),
      success: { 200: json('The new secret.', 'WebhookSecret') },
    },
  },
);

export function webhookRoutes(keyRoutes: KeyRoutes, dependencies: WebhookRouteDependencies): RouteGroup {
  const { changes } = dependencies;
  return keyRoutes(WEBHOOK_OPERATIONS, {
    listWebhookEndpoints: async ({ accountId }) => ({ endpoints: (await changes.list(accountId)).map(endpointToJson) }),
    createWebhookEndpoint: async (call) => await create(dependencies, call),
    getWebhookEndpoint: async ({ accountId, id }) => endpointToJson(await changes.find(accountId, id)),
    updateWebhookEndpoint: async (call) => {
      const change = changes.checkChange(await endpointFields(dependencies, call));
      return endpointToJson(await changes.update(call.accountId, call.id, change, call.actor));
    },
    deleteWebhookEndpoint: async ({ accountId, id, actor }) => await changes.remove(accountId, id, actor),
    enableWebhookEndpoint: async ({ accountId, id, actor }) =>
      endpointToJson(await changes.setEnabled(accountId, id, true, actor)),
    disableWebhookEndpoint: async ({ accountId, id, actor }) =>
      endpointToJson(await changes.setEnabled(accountId, id, false, actor)),
    rotateWebhookSecret: async (call) => {
      const { accountId, id, actor } = call;
      const secret = await changes.rotate(accountId, id, await overlapOf(dependencies, call), actor);
      return { ...endpointToJson(await changes.find(accountId, id)), secret };
    },
    testWebhookEndpoint: async ({ accountId, id, reply }) => {
      const delivery = await changes.sendTest(accountId, id);
      reply.header('location', `${DELIVERIES_PATH}/${delivery.id}`);
      return sent(dependencies, reply, delivery);
    },
    listWebhookDeliveries: async (call) => await listDeliveries(dependencies, call),
    getWebhookDelivery: async ({ accountId, id }) => detailsToJson(await changes.findDelivery(accountId, id)),
    resendWebhookDelivery: async ({ accountId, id, reply }) =>
      sent(dependencies, reply, await changes.sendAgain(accountId, id)),
    getWebhookSecret: async ({ accountId }) => {
      const [current] = await changes.accountSecrets(accountId);
      return { secret: must(current, 'the secret of the account').secret };
    },
    rotateAccountWebhookSecret: async (call) => {
      const overlapMs = await overlapOf(dependencies, call);
      return { secret: await changes.rotateAccountSecret(call.accountId, overlapMs, call.actor) };
    },
  });
}

async function create(
  dependencies: WebhookRouteDependencies,
  call: Call,
): Promise<ResponseOf<'WebhookEndpointWithSecret'>> {
  const { changes } = dependencies;
  const { url, events } = await endpointFields(dependencies, call);
  const { endpoint, secret } = await changes.create(call.accountId, changes.check(url, events), call.actor);
  call.reply.header('location', `${ENDPOINTS_PATH}/${endpoint.id}`);
  return { ...endpointToJson(endpoint), secret };
}

async function endpointFields(
  { shutdown }: WebhookRouteDependencies,
  { request, reply }: Call,
): Promise<{ readonly url?: unknown; readonly events?: unknown }> {
  const { fields } = await receiveSmall(request, reply, { shutdown, advice: 'Send the endpoint as application/json.' });
  const known = Object.fromEntries(fields.map(({ name, value }) => [name, value]));
  assertOnly(Object.keys(known), ['url', 'events']);
  return known;
}

/** The body is optional. */
async function overlapOf({ shutdown }: WebhookRouteDependencies, { request, reply }: Call): Promise<number> {
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

function sent(
  { wake }: WebhookRouteDependencies,
  reply: FastifyReply,
  delivery: WebhookDelivery,
): ResponseOf<'WebhookDelivery'> {
  wake();
  reply.headers(ASK_LATER);
  return deliveryToJson(delivery);
}

async function listDeliveries(
  { changes }: WebhookRouteDependencies,
  { accountId, request }: Call,
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
  throw invalidFields([{ pointer: pointerTo(name), code: 'invalid_choice', detail }]);
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
