// GET and DELETE of stored renders: one, with an optional wait for its end, and the list.

import type { FastifyRequest } from 'fastify';
import { AppError, type FieldFault } from '../../errors.ts';
import type { ResponseOf } from '../../api/response-schemas.ts';
import { LocalLimits } from '../../limits/local-limits.ts';
import type { ObjectStorage } from '../../storage/object-storage.ts';
import type { RenderRecord, RenderScope } from '../../store/renders/render.ts';
import type { Renders } from '../../store/renders/renders.ts';
import type { Keys } from '../../store/accounts/keys.ts';
import type { Caller } from '../../account/caller.ts';
import type { KeyRoute } from '../key-route.ts';
import type { RouteGroup } from '../route-group.ts';
import type { ResultLinks } from './result-links.ts';
import { cancelRender, deleteEnded } from '../../renders/render-actions.ts';
import type { RenderRunner } from '../../renders/render-runner.ts';
import { RENDERS_PATH, renderToJson } from '../../renders/render-view.ts';

export interface RenderRouteDependencies {
  readonly keyRoute: KeyRoute;
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
export const WAIT_SECONDS = { type: 'integer', minimum: 0, maximum: 60, default: 0 } as const;
export const PAGE_LIMIT = { type: 'integer', minimum: 1, maximum: 100, default: 20 } as const;

export function renderRoutes(dependencies: RenderRouteDependencies): RouteGroup {
  const waiting = new LocalLimits();
  const isOver = ({ raw }: FastifyRequest): boolean => dependencies.shutdown.aborted || raw.destroyed;
  const one = async (caller: Caller, request: FastifyRequest): Promise<ResponseOf<'Render'>> => {
    const scope = await scopeOf(dependencies, caller);
    const waitSeconds = queryNumber(request, 'wait', WAIT_SECONDS);
    const id = idOf(request);
    const render =
      waitSeconds === 0
        ? await dependencies.renders.find(scope, id)
        : await counted(
            waiting,
            caller,
            async () => await dependencies.runner.waitForEnd(scope, { id, waitSeconds, isOver: () => isOver(request) }),
          );
    return renderToJson(found(render), dependencies.links.baseUrlFor(request));
  };
  return {
    register: (app) => {
      app.get(`${RENDERS_PATH}/:id`, dependencies.keyRoute(one));
      app.get(
        RENDERS_PATH,
        dependencies.keyRoute(async (caller, request) => await list(dependencies, caller, request)),
      );
      app.delete(
        `${RENDERS_PATH}/:id`,
        dependencies.keyRoute(async (caller, request, reply) => {
          const kept = await cancelOrDelete(dependencies, await scopeOf(dependencies, caller), idOf(request));
          if (kept === undefined) reply.code(204);
          return kept && renderToJson(kept, dependencies.links.baseUrlFor(request));
        }),
      );
    },
  };
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

export function idOf({ params }: FastifyRequest): string {
  return (params as { readonly id: string }).id;
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
  caller: Caller,
  request: FastifyRequest,
): Promise<ResponseOf<'RenderList'>> {
  const { limit, cursor } = pageOf(request);
  const scope = await scopeOf({ keys }, caller);
  if (cursor !== undefined && (await renders.find(scope, cursor)) === undefined) {
    throw fault({
      pointer: '#/cursor',
      code: 'out_of_range',
      detail: 'cursor must be the next_cursor of a page before.',
    });
  }
  // One more row is read, to find out whether there is another page.
  const rows = await renders.list(scope, { limit: limit + 1, after: cursor });
  const page = rows.slice(0, limit);
  return {
    renders: page.map((render) => renderToJson(render, links.baseUrlFor(request))),
    next_cursor: rows.length > limit ? (page.at(-1)?.id ?? null) : null,
  };
}

/** Reads the requested page of a list, and other parameters. */
export function pageOf(request: FastifyRequest): {
  readonly limit: number;
  readonly cursor: string | undefined;
  readonly text: (name: string) => string | undefined;
} {
  const limit = queryNumber(request, 'limit', PAGE_LIMIT);
  return { limit, cursor: queryText(request, 'cursor'), text: (name) => queryText(request, name) };
}

type QueryNumber = typeof WAIT_SECONDS | typeof PAGE_LIMIT;

function queryNumber(request: FastifyRequest, name: string, schema: QueryNumber): number {
  const text = queryText(request, name);
  if (text === undefined) return schema.default;
  const { minimum, maximum } = schema;
  const value = /^\d{1,4}$/u.test(text) ? Number(text) : Number.NaN;
  if (value >= minimum && value <= maximum) return value;
  const detail = `${name} must be a whole number from ${minimum} to ${maximum}.`;
  throw fault({ pointer: `#/${name}`, code: 'out_of_range', detail });
}

function queryText({ query }: FastifyRequest, name: string): string | undefined {
  const value = ((query ?? {}) as Readonly<Record<string, unknown>>)[name];
  return typeof value === 'string' && value !== '' ? value : undefined;
}

function fault(only: FieldFault): AppError {
  return new AppError('invalid_fields', only.detail, { faults: [only] });
}
