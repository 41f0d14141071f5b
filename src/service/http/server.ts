// Creates the HTTP server: timeouts, the hooks that every request passes, and the routes.

import { randomUUID } from 'node:crypto';
import type { IncomingMessage, ServerResponse } from 'node:http';
import fastify, { type FastifyInstance, type FastifyReply, type FastifyRequest } from 'fastify';
import { AppError } from '../../shared/errors.ts';
import { addErrorHandler, type ErrorDependencies, sendError } from './error-handler.ts';
import { logWhenEnded, type RequestLogDependencies } from './request-log.ts';
import type { RouteGroup } from './route-group.ts';
import { RouteTable } from './route-table.ts';
import { refuseBrokenRequest } from './transport/broken-request.ts';
import { isPreflight, respondToPreflight } from './transport/cors.ts';
import { drainUpload } from './transport/drain.ts';
import { recordOf } from './transport/request-record.ts';

export interface ServerOptions {
  readonly groups: readonly RouteGroup[];
  readonly errors: ErrorDependencies;
  readonly log: RequestLogDependencies;
  /** The proxies that may set a client's address: their number in a row, or their addresses. */
  readonly trustProxy: false | number | string[];
  /** The maximum duration of an upload. */
  readonly uploadSeconds: number;
  /** Returns true once the server was told to stop. It may keep serving until load balancers have noticed. */
  readonly isDraining: () => boolean;
  /** Returns true once new requests are rejected. */
  readonly isClosing: () => boolean;
}

const HEADERS_TIMEOUT_MS = 10_000;
/** How often Node checks its timeouts. Its default of 30 seconds would turn the 10 seconds above into 40. */
const TIMEOUT_CHECK_MS = 2_000;
/** Longer than the idle timeout of common load balancers, so the load balancer closes idle connections and not the server. */
const KEEP_ALIVE_MS = 65_000;

/** No route has a schema of Fastify's. Without this, each start would load a validator and a serializer for them. */
function noSchemas(): never {
  throw new Error("routes can't have schemas; check requests in the handler");
}

export function createServer(options: ServerOptions): FastifyInstance {
  const { groups, errors, log } = options;
  const app = fastify({
    genReqId: () => randomUUID(),
    trustProxy: trustOf(options.trustProxy),
    // Routes that take uploads enforce the limit themselves and send a 408. This timeout ends the others, a little
    // later.
    requestTimeout: options.uploadSeconds * 1_000 + HEADERS_TIMEOUT_MS,
    keepAliveTimeout: KEEP_ALIVE_MS,
    return503OnClosing: false,
    routerOptions: { ignoreTrailingSlash: true },
    schemaController: { compilersFactory: { buildValidator: noSchemas, buildSerializer: noSchemas } },
    // The `host` header decides nothing here, so a request without one is accepted.
    http: { requireHostHeader: false, connectionsCheckingInterval: TIMEOUT_CHECK_MS },
    clientErrorHandler: (error, socket) => {
      const refused = refuseBrokenRequest(error, socket);
      if (refused) log.logger.info({ ...refused, reason: error.code }, 'broken request rejected');
    },
    frameworkErrors: (_error, request, reply) => {
      const error = new AppError('not_found', 'The path is malformed.');
      logWhenEnded(request, reply, log);
      recordOf(request).error = error;
      reply.headers(commonHeaders(request));
      sendError(error, request, reply, errors);
    },
  });
  app.server.headersTimeout = HEADERS_TIMEOUT_MS;
  leaveExpectationsToRoutes(app);
  // Routes stream the body themselves, so Fastify must not read it.
  app.removeAllContentTypeParsers();
  app.addContentTypeParser('*', (_request, _payload, done) => done(null));
  addHooks(app, new RouteTable(app), options);
  addErrorHandler(app, errors);
  for (const group of groups) group.register(app);
  app.setNotFoundHandler(() => {
    throw pathNotFound();
  });
  return app;
}

function trustOf(proxies: ServerOptions['trustProxy']): false | string[] | ((address: string, hop: number) => boolean) {
  return typeof proxies === 'number' ? (_address, hop) => hop < proxies : proxies;
}

function addHooks(app: FastifyInstance, routes: RouteTable, { log, isDraining, isClosing }: ServerOptions): void {
  app.addHook('onRequest', async (request, reply) => {
    logWhenEnded(request, reply, log);
    reply.headers(commonHeaders(request));
    if (isClosing()) {
      throw new AppError('shutting_down', 'This server is shutting down. Try again.', { retryAfterSeconds: 1 });
    }
    if (isPreflight(request) && routes.methodsOf(pathOf(request)) && pathOf(request).startsWith('/v1/'))
      return await respondToPreflight(reply);
    assertRoute(routes, request, reply);
  });
  // A kept-alive connection would delay the shutdown, and a load balancer would send its next request here.
  app.addHook('onSend', async (_request, reply) => {
    if (isDraining()) reply.header('connection', 'close');
  });
  app.addHook('onResponse', async (request) => drainUpload(request.raw));
}

/** Path and method are checked before anything else. */
function assertRoute(routes: RouteTable, request: FastifyRequest, reply: FastifyReply): void {
  const methods = routes.methodsOf(pathOf(request));
  if (methods === undefined) throw pathNotFound();
  if (methods.has(request.method)) return;
  const allow = [...methods].join(', ');
  reply.header('allow', allow);
  throw new AppError('method_not_allowed', `This path accepts only ${allow}.`);
}

function pathOf({ url }: FastifyRequest): string {
  return url.replace(/\?.*$/su, '').replace(/(?<=.)\/$/u, '');
}

function pathNotFound(): AppError {
  return new AppError('not_found', "This path doesn't exist.");
}

/** A request to render has the same id as its render, and so do its errors. */
function commonHeaders(request: FastifyRequest): Record<string, string> {
  const isRender = request.method === 'POST' && pathOf(request) === '/v1/overlay';
  return {
    'x-request-id': request.id,
    ...(isRender && { 'x-render-id': request.id }),
    'x-content-type-options': 'nosniff',
  };
}

/** Routes respond to `expect: 100-continue` themselves, after they have checked the key. Other expectations are ignored. */
function leaveExpectationsToRoutes(app: FastifyInstance): void {
  const handle = (request: IncomingMessage, response: ServerResponse): void => {
    app.server.emit('request', request, response);
  };
  app.server.on('checkContinue', handle);
  app.server.on('checkExpectation', handle);
}
