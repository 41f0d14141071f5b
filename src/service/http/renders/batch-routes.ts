// Batches: up to 100 JSON requests that are accepted together. Each becomes a render of its own, and one that fails doesn't
// stop the others.

import type { ResponseOf } from '../../api/response-schemas.ts';
import { ref } from '../../api/schema-parts.ts';
import type { SavedStyles } from '../../brand/saved-styles.ts';
import { AppError } from '../../../shared/errors.ts';
import type { AssetFetcher } from '../../fetch/asset-fetcher.ts';
import type { RenderAcceptor } from '../../renders/accept.ts';
import { REPLAYED } from '../../renders/idempotency.ts';
import { parseBatch, readBatch } from '../../renders/parse-batch.ts';
import type { SpeechCaptions } from '../../renders/speech-captions.ts';
import { cancelRender, deleteEnded } from '../../renders/render-actions.ts';
import { BATCHES_PATH, batchToJson, MAX_BATCH } from '../../renders/render-view.ts';
import { urlPolicyFor } from '../../renders/caller-url-rule.ts';
import type { Json } from '../../../shared/json-schema.ts';
import type { Users } from '../../store/people/users.ts';
import type { RenderRecord, RenderScope } from '../../store/renders/render.ts';
import { readIdempotencyKey } from '../access/idempotency-key.ts';
import type { Call } from '../key-routes.ts';
import { describeOperations, json, jsonBody } from '../operation.ts';
import { receiveSmall } from '../overlay/receive.ts';
import type { RouteGroup } from '../route-group.ts';
import { ASK_LATER } from './render-replies.ts';
import { deletion, RENDER_OR_BATCH_ID, type RenderRouteDependencies, scopeOf } from './render-routes.ts';

export interface BatchDependencies extends RenderRouteDependencies {
  readonly acceptor: RenderAcceptor;
  readonly styles: Pick<SavedStyles, 'resolveAll'>;
  readonly users: Pick<Users, 'list'>;
  readonly fetcher: Pick<AssetFetcher, 'policy'>;
  readonly speechCaptions: SpeechCaptions;
}

export const BATCH_REQUEST: Json = {
  type: 'object',
  required: ['requests'],
  properties: {
    requests: { type: 'array', minItems: 1, maxItems: MAX_BATCH, items: ref('OverlayRequest') },
  },
  additionalProperties: false,
};

export const BATCH_OPERATIONS = describeOperations(
  { tag: 'Stored renders' },
  {
    createBatch: {
      route: `POST ${BATCHES_PATH}`,
      summary: 'Render up to 100 requests asynchronously',
      description:
        'All requests are checked first; a fault in any of them refuses the batch. Renders that fail later stay single.',
      rate: 'render',
      isIdempotent: true,
      body: jsonBody('BatchRequest'),
      success: { 202: json('Accepted.', 'Batch', ['location', 'retry-after', 'idempotency-replayed']) },
      stores: 'render',
    },
    getBatch: {
      route: `GET ${BATCHES_PATH}/{id}`,
      summary: 'Get a batch and its renders',
      description: 'The renders are in the order of the requests.',
      parameters: [RENDER_OR_BATCH_ID],
      success: { 200: json('The batch.', 'Batch') },
      errors: ['render_not_found'],
    },
    deleteBatch: deletion(`${BATCHES_PATH}/{id}`, 'Batch'),
  },
);

export function batchRoutes(dependencies: BatchDependencies): RouteGroup {
  return dependencies.keyRoutes(BATCH_OPERATIONS, {
    createBatch: async (call) => await create(dependencies, call),
    getBatch: async (call) => await show(dependencies, await scopeOf(dependencies, call.caller), call),
    deleteBatch: async (call) => await cancelBatch(dependencies, await scopeOf(dependencies, call.caller), call),
  });
}

async function create(dependencies: BatchDependencies, { caller, request, reply }: Call): Promise<ResponseOf<'Batch'>> {
  const { acceptor, links } = dependencies;
  links.assertAsyncAvailable(request);
  const idempotencyKey = readIdempotencyKey(request.headers);
  const received = await receiveSmall(request, reply, {
    shutdown: dependencies.shutdown,
    advice: 'Send the batch as application/json.',
  });
  const read = await dependencies.styles.resolveAll(caller.accountId, readBatch(received));
  const policy = await urlPolicyFor(dependencies, caller, dependencies.fetcher.policy, read);
  const requests = await parseBatch({ policy, speechCaptions: dependencies.speechCaptions }, read, caller, request.id);
  const batch = { batchId: request.id, caller, idempotencyKey, read, requests };
  const accepted = await acceptor.acceptBatch(batch);
  reply.headers({
    location: `${BATCHES_PATH}/${accepted.batchId}`,
    ...ASK_LATER,
    ...(accepted.isReplay && REPLAYED),
  });
  return batchToJson(accepted.batchId, accepted.renders, links.baseUrlFor(request));
}

async function rendersOf({ renders }: BatchDependencies, scope: RenderScope, batchId: string): Promise<RenderRecord[]> {
  const found = await renders.list(scope, { limit: MAX_BATCH, batchId });
  if (found.length === 0) throw new AppError('render_not_found', 'Batch not found.');
  return found;
}

async function show(
  dependencies: BatchDependencies,
  scope: RenderScope,
  { id: batchId, request }: Call,
): Promise<ResponseOf<'Batch'>> {
  const renders = await rendersOf(dependencies, scope, batchId);
  return batchToJson(batchId, renders, dependencies.links.baseUrlFor(request));
}

/**
 * Cancels renders that haven't ended. Only a batch that was complete from the start is deleted, because its results are
 * paid for.
 */
async function cancelBatch(
  dependencies: BatchDependencies,
  scope: RenderScope,
  call: Call,
): Promise<ResponseOf<'Batch'> | undefined> {
  const renders = await rendersOf(dependencies, scope, call.id);
  const open = renders.filter(({ finishedAt }) => finishedAt === undefined);
  if (open.length === 0) {
    for (const render of renders) await deleteEnded(dependencies, scope, render);
    return undefined;
  }
  for (const { id } of open) {
    // This changes nothing in a render that has ended meanwhile.
    await cancelRender(dependencies, scope, id);
  }
  return await show(dependencies, scope, call);
}
