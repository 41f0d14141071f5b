// Batches: up to 100 JSON requests that are accepted together. Each becomes a render of its own, and one that fails doesn't
// stop the others.

import { randomUUID } from 'node:crypto';
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { ResponseOf } from '../../api/response-schemas.ts';
import { typeName } from '../../caption/quote.ts';
import { AppError, type FieldFault } from '../../errors.ts';
import { must } from '../../primitives/must.ts';
import { acceptedRecord, type NewRender, type RenderRecord, type RenderScope } from '../../store/renders/render.ts';
import type { Users } from '../../store/people/users.ts';
import type { Caller } from '../../account/caller.ts';
import type { AssetFetcher } from '../../fetch/asset-fetcher.ts';
import type { FetchPolicy } from '../../fetch/fetch-policy.ts';
import { smallBodyReader } from '../overlay/body.ts';
import { readIdempotencyKey } from '../../renders/idempotency.ts';
import type { ReceivedForm } from '../../renders/received-form.ts';
import { parseRequest } from '../../renders/parse.ts';
import { sendContinue } from '../overlay/receive.ts';
import { readRoute } from '../read-route.ts';
import type { RouteGroup } from '../route-group.ts';
import { watchPace } from '../../fetch/pace.ts';
import { createRequestSignal } from '../transport/request-signal.ts';
import { urlPolicyFor } from '../webhooks/webhook-url-rule.ts';
import { newRender, type RenderAcceptor } from './accept.ts';
import { cancelRender, deleteEnded } from '../../renders/render-actions.ts';
import { idOf, type RenderRouteDependencies, scopeOf } from './render-routes.ts';
import { BATCHES_PATH, batchToJson, MAX_BATCH } from '../../renders/render-view.ts';
import { asyncFingerprint, storeRequest } from '../../renders/stored-request.ts';

export interface BatchDependencies extends RenderRouteDependencies {
  readonly acceptor: RenderAcceptor;
  readonly users: Pick<Users, 'list'>;
  readonly fetcher: Pick<AssetFetcher, 'policy'>;
}

const MAX_RECEIVE_SECONDS = 30;

export function batchRoutes(dependencies: BatchDependencies): RouteGroup {
  return {
    register: (app) => {
      app.post(
        BATCHES_PATH,
        readRoute(dependencies, async (caller, request, reply) => await create(dependencies, caller, request, reply)),
      );
      app.get(
        `${BATCHES_PATH}/:id`,
        readRoute(dependencies, async (caller, request) => {
          return await show(dependencies, await scopeOf(dependencies, caller), idOf(request), request);
        }),
      );
      app.delete(
        `${BATCHES_PATH}/:id`,
        readRoute(dependencies, async (caller, request, reply) => {
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
  const { acceptor, admission } = dependencies;
  await admission.countRequest(caller, (headers) => {
    reply.headers(headers);
  });
  acceptor.assertAvailable(request);
  const key = readIdempotencyKey(request.headers);
  const form = await receiveSmall(dependencies, request, reply, 'Send the batch as application/json.');
  const batchId = request.id;
  const requests = requestsOf(form);
  const fieldNames = requests.flatMap((item) => Object.keys(item ?? {}));
  const policy = await urlPolicyFor(dependencies.users, caller, dependencies.fetcher.policy, fieldNames);
  const renders = parseBatch(policy, requests, caller, batchId);
  const { accountId, keyId, mode } = caller;
  const at = new Date();
  const { id, isReplay } = await acceptor.add(caller, renders, {
    at,
    batch: { id: batchId, accountId, keyId, mode },
    ...(key !== undefined && {
      idempotency: { key: `${mode}:${key}`, fingerprint: asyncFingerprint({ ...form, asset: undefined }) },
    }),
  });
  reply.code(202).headers({
    location: `${BATCHES_PATH}/${id}`,
    ...(isReplay && { 'idempotency-replayed': 'true' }),
  });
  if (isReplay) return await show(dependencies, { accountId }, id, request);
  const records = renders.map((render) => acceptedRecord(render, at));
  return batchToJson(id, records, dependencies.linkBase.urlFor(request));
}

/** Reads a body without a file. `advice` is for a caller that sends another type. */
export async function receiveSmall(
  { shutdown }: Pick<BatchDependencies, 'shutdown'>,
  request: FastifyRequest,
  reply: FastifyReply,
  advice: string,
): Promise<ReceivedForm> {
  const lifetime = createRequestSignal(reply.raw, shutdown);
  const stopWatching = watchPace(request.raw, (reason) => lifetime.giveUp(reason), MAX_RECEIVE_SECONDS);
  try {
    const read = smallBodyReader(request.raw, advice);
    sendContinue(request, reply);
    return await read(lifetime.signal);
  } finally {
    stopWatching();
    lifetime.release();
  }
}

/** Throws one error with the faults of all requests. */
function parseBatch(
  policy: Pick<FetchPolicy, 'faultOf'>,
  requests: readonly unknown[],
  caller: Caller,
  batchId: string,
): NewRender[] {
  const faults: FieldFault[] = [];
  const renders: NewRender[] = [];
  // Lists sort renders of the same moment by id, the highest first, so a batch keeps the order of its requests.
  const ids = requests
    .map(() => randomUUID())
    .toSorted()
    .toReversed();
  for (const [index, item] of requests.entries()) {
    if (typeof item !== 'object' || item === null || Array.isArray(item)) {
      const detail = `A request must be an object; got ${typeName(item)}.`;
      faults.push({ pointer: `#/requests/${index}`, code: 'wrong_type', detail });
      continue;
    }
    const fields = Object.entries(item).map(([name, value]: [string, unknown]) => ({ name, value }));
    const single = { fields, isJson: true, faults: [], hasAsset: false, asset: undefined };
    try {
      const parsed = parseRequest(single, policy);
      renders.push(
        newRender(caller, must(ids[index], 'the id of a render'), {
          request: storeRequest(single),
          parsed,
          asset: undefined,
          batchId,
        }),
      );
    } catch (error) {
      if (!(error instanceof AppError) || error.faults.length === 0) throw error;
      faults.push(
        ...error.faults.map((one) => ({ ...one, pointer: one.pointer.replace(/^#/u, `#/requests/${index}`) })),
      );
    }
  }
  const [first] = faults;
  if (first === undefined) return renders;
  const summary = faults.length === 1 ? first.detail : `The batch has ${faults.length} errors.`;
  throw new AppError('invalid_fields', summary, { faults });
}

function requestsOf({ fields, isJson }: ReceivedForm): readonly unknown[] {
  const unknown = fields.find(({ name }) => name !== 'requests');
  const requests = fields.find(({ name }) => name === 'requests')?.value;
  const isValid = isJson && Array.isArray(requests) && requests.length > 0 && requests.length <= MAX_BATCH;
  if (isValid && unknown === undefined) return requests;
  const detail = isValid
    ? 'A batch has only the field requests.'
    : `requests must be a JSON array of 1 to ${MAX_BATCH} objects.`;
  const code = Array.isArray(requests) && requests.length > MAX_BATCH ? 'too_many' : 'wrong_type';
  throw new AppError('invalid_fields', detail, {
    faults: [isValid ? { pointer: '#', code: 'unknown_field', detail } : { pointer: '#/requests', code, detail }],
  });
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
  return batchToJson(batchId, renders, dependencies.linkBase.urlFor(request));
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
