// Batches: up to 100 JSON requests that are accepted together. Each becomes a render of its own, and one that fails doesn't
// stop the others.

import type { FastifyReply, FastifyRequest } from 'fastify';
import type { Caller } from '../../account/caller.ts';
import type { ResponseOf } from '../../api/response-schemas.ts';
import type { SavedStyles } from '../../brand/saved-styles.ts';
import { AppError } from '../../errors.ts';
import type { AssetFetcher } from '../../fetch/asset-fetcher.ts';
import type { RenderAcceptor } from '../../renders/accept.ts';
import { REPLAYED } from '../../renders/idempotency.ts';
import { parseBatch, readBatch } from '../../renders/parse-batch.ts';
import type { SpeechCaptions } from '../../renders/speech-captions.ts';
import { cancelRender, deleteEnded } from '../../renders/render-actions.ts';
import { BATCHES_PATH, batchToJson, MAX_BATCH } from '../../renders/render-view.ts';
import { urlPolicyFor } from '../../renders/caller-url-rule.ts';
import type { Users } from '../../store/people/users.ts';
import type { RenderRecord, RenderScope } from '../../store/renders/render.ts';
import type { Admission } from '../access/admission.ts';
import { readIdempotencyKey } from '../access/idempotency-key.ts';
import { receiveSmall } from '../overlay/receive.ts';
import type { RouteGroup } from '../route-group.ts';
import { ASK_LATER } from './render-replies.ts';
import { idOf, type RenderRouteDependencies, scopeOf } from './render-routes.ts';

export interface BatchDependencies extends RenderRouteDependencies {
  readonly admission: Admission;
  readonly acceptor: RenderAcceptor;
  readonly styles: Pick<SavedStyles, 'resolveAll'>;
  readonly users: Pick<Users, 'list'>;
  readonly fetcher: Pick<AssetFetcher, 'policy'>;
  readonly speechCaptions: SpeechCaptions;
}

export function batchRoutes(dependencies: BatchDependencies): RouteGroup {
  return {
    register: (app) => {
      app.post(
        BATCHES_PATH,
        dependencies.keyRoute(async (caller, request, reply) => await create(dependencies, caller, request, reply)),
      );
      app.get(
        `${BATCHES_PATH}/:id`,
        dependencies.keyRoute(async (caller, request) => {
          return await show(dependencies, await scopeOf(dependencies, caller), idOf(request), request);
        }),
      );
      app.delete(
        `${BATCHES_PATH}/:id`,
        dependencies.keyRoute(async (caller, request, reply) => {
          const batch = await cancelBatch(dependencies, await scopeOf(dependencies, caller), request);
          if (batch === undefined) reply.code(204);
          return batch;
        }),
      );
    },
  };
}

async function create(
  dependencies: BatchDependencies,
  caller: Caller,
  request: FastifyRequest,
  reply: FastifyReply,
): Promise<ResponseOf<'Batch'>> {
  const { acceptor, admission, links } = dependencies;
  await admission.countRequest(caller, (headers) => {
    reply.headers(headers);
  });
  links.assertAsyncAvailable(request);
  const idempotencyKey = readIdempotencyKey(request.headers);
  const received = await receiveSmall(request, reply, {
    shutdown: dependencies.shutdown,
    advice: 'Send the batch as application/json.',
  });
  const read = await dependencies.styles.resolveAll(caller.accountId, readBatch(received));
  const policy = await urlPolicyFor(dependencies, caller, dependencies.fetcher.policy, read);
  const requests = parseBatch({ policy, speechCaptions: dependencies.speechCaptions }, read, caller, request.id);
  const batch = { batchId: request.id, caller, idempotencyKey, read, requests };
  const accepted = await acceptor.acceptBatch(batch);
  reply.code(202).headers({
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
  batchId: string,
  request: FastifyRequest,
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
  request: FastifyRequest,
): Promise<ResponseOf<'Batch'> | undefined> {
  const batchId = idOf(request);
  const renders = await rendersOf(dependencies, scope, batchId);
  const open = renders.filter(({ finishedAt }) => finishedAt === undefined);
  if (open.length === 0) {
    for (const render of renders) await deleteEnded(dependencies, scope, render);
    return undefined;
  }
  for (const { id } of open) {
    // This changes nothing in a render that has ended meanwhile.
    await cancelRender(dependencies, scope, id);
  }
  return await show(dependencies, scope, batchId, request);
}
