// GET and DELETE of stored renders: one, with an optional wait for its end, and the list.

import { ID } from '../../api/schema-parts.ts';
import { AppError, invalidFields } from '../../../shared/errors.ts';
import type { ResponseOf } from '../../api/response-schemas.ts';
import { LocalLimits } from '../../limits/local-limits.ts';
import type { ObjectStorage } from '../../storage/object-storage.ts';
import type { RenderRecord, RenderScope } from '../../store/renders/render.ts';
import type { Renders } from '../../store/renders/renders.ts';
import type { Keys } from '../../store/accounts/keys.ts';
import type { Caller } from '../../account/caller.ts';
import type { Call, KeyRoutes } from '../key-routes.ts';
import { describeOperations, DELETED, inPath, json, query } from '../operation.ts';
import { pageOf, pageParameters, queryNumber } from '../query.ts';
import type { RouteGroup } from '../route-group.ts';
import type { ResultLinks } from './result-links.ts';
import { cancelRender, deleteEnded } from '../../renders/render-actions.ts';
import type { RenderRunner } from '../../renders/render-runner.ts';
import { RENDERS_PATH, renderToJson } from '../../renders/render-view.ts';

export interface RenderRouteDependencies {
  readonly keyRoutes: KeyRoutes;
  readonly renders: Renders;
  readonly keys: Pick<Keys, 'get'>;
  readonly storage: ObjectStorage;
  readonly links: ResultLinks;
  readonly runner: Pick<RenderRunner, 'cancel' | 'waitForEnd'>;
  /** Fires when running requests must end. */
  readonly shutdown: AbortSignal;
}

const MAX_WAITING_PER_ACCOUNT = 20;
/** How long a request waits for the end of a render. */
const WAIT_SECONDS = { type: 'integer', minimum: 0, maximum: 60, default: 0 } as const;

export const RENDER_OR_BATCH_ID = inPath('id', 'The id of the render or batch.', ID);

export const RENDER_OPERATIONS = describeOperations(
  { tag: 'Stored renders' },
  {
    listRenders: {
      route: `GET ${RENDERS_PATH}`,
      summary: 'List stored renders, newest first',
      description: 'Test keys see test renders. Keys with allowed origins see their own.',
      parameters: pageParameters('Renders per page.'),
      success: { 200: json('A page of renders.', 'RenderList') },
    },
    getRender: {
      route: `GET ${RENDERS_PATH}/{id}`,
      summary: 'Get a stored render',
      description: 'With `wait`, the response comes when the render ends, or after that many seconds.',
      parameters: [RENDER_OR_BATCH_ID, query('wait', 'Seconds to wait.', WAIT_SECONDS)],
      success: { 200: json('The render.', 'Render') },
      errors: ['render_not_found'],
    },
    deleteRender: deletion(`${RENDERS_PATH}/{id}`, 'Render'),
  },
);

export function renderRoutes(dependencies: RenderRouteDependencies): RouteGroup {
  const { keyRoutes, renders, links, runner, shutdown } = dependencies;
  const waiting = new LocalLimits();
  return keyRoutes(RENDER_OPERATIONS, {
    listRenders: async (call) => await list(dependencies, call),
    getRender: async ({ caller, id, request }) => {
      const scope = await scopeOf(dependencies, caller);
      const waitSeconds = queryNumber(request, 'wait', WAIT_SECONDS);
      const isOver = (): boolean => shutdown.aborted || request.raw.destroyed;
      const render =
        waitSeconds === 0
          ? await renders.find(scope, id)
          : await counted(waiting, caller, async () => await runner.waitForEnd(scope, { id, waitSeconds, isOver }));
      return renderToJson(found(render), links.baseUrlFor(request));
    },
    deleteRender: async ({ caller, id, request }) => {
      const kept = await cancelOrDelete(dependencies, await scopeOf(dependencies, caller), id);
      return kept && renderToJson(kept, links.baseUrlFor(request));
    },
  });
}

/** The operation that cancels or deletes a render or a batch. */
export function deletion<const Path extends `/${string}`, const Name extends 'Render' | 'Batch'>(
  path: Path,
  schema: Name,
) {
  const noun = schema.toLowerCase();
  return {
    route: `DELETE ${path}`,
    summary: `Cancel or delete a ${noun}`,
    description:
      `Deletes a ${noun} that has ended, with its results. Otherwise cancels what hasn't ended, free of charge; ` +
      'a render that ends at the same moment keeps its result.',
    parameters: [RENDER_OR_BATCH_ID],
    success: { 200: json('Canceled, or ended at the same moment.', schema), ...DELETED },
    errors: ['render_not_found'],
  } as const;
}

/** A test key sees test renders. A key for web pages can be read by every visitor, so it sees only its own. */
export async function scopeOf({ keys }: Pick<RenderRouteDependencies, 'keys'>, caller: Caller): Promise<RenderScope> {
  const { accountId, keyId, mode } = caller;
  const key = keyId === undefined ? undefined : await keys.get(keyId);
  return {
    accountId,
    ...(mode === 'test' && { mode }),
    ...(key !== undefined && key.allowedOrigins.length > 0 && { keyId: key.id }),
  };
}

/**
 * Deletes a render that has ended. Cancels any other and returns it. If it ends at the same moment, it is returned as
 * it ended, because its result is paid for and only a client that has seen this can want to delete it.
 */
async function cancelOrDelete(
  dependencies: RenderRouteDependencies,
  scope: RenderScope,
  id: string,
): Promise<RenderRecord | undefined> {
  const before = found(await dependencies.renders.find(scope, id));
  if (before.finishedAt === undefined) return found(await cancelRender(dependencies, scope, id));
  await deleteEnded(dependencies, scope, before);
  return undefined;
}

function found(render: RenderRecord | undefined): RenderRecord {
  if (render) return render;
  throw new AppError('render_not_found', 'Render not found.');
}

/** Each waiting request keeps a connection open, so their number per account is limited. */
async function counted<Result>(
  waiting: LocalLimits,
  { accountId }: Caller,
  work: () => Promise<Result>,
): Promise<Result> {
  const leave = await waiting.enter(accountId, MAX_WAITING_PER_ACCOUNT);
  if (leave === undefined) {
    const detail = `At most ${MAX_WAITING_PER_ACCOUNT} requests with wait can be open at a time. Leave wait out, or try again.`;
    throw new AppError('rate_limited', detail, { retryAfterSeconds: 1 });
  }
  try {
    return await work();
  } finally {
    leave();
  }
}

async function list(
  { renders, keys, links }: RenderRouteDependencies,
  { caller, request }: Call,
): Promise<ResponseOf<'RenderList'>> {
  const { limit, cursor } = pageOf(request);
  const scope = await scopeOf({ keys }, caller);
  if (cursor !== undefined && (await renders.find(scope, cursor)) === undefined) {
    const detail = 'cursor must be the next_cursor of a page before.';
    throw invalidFields([{ pointer: '#/cursor', code: 'out_of_range', detail }]);
  }
  // One more row is read, to find out whether there is another page.
  const rows = await renders.list(scope, { limit: limit + 1, after: cursor });
  const page = rows.slice(0, limit);
  return {
    renders: page.map((render) => renderToJson(render, links.baseUrlFor(request))),
    next_cursor: rows.length > limit ? (page.at(-1)?.id ?? null) : null,
  };
}
