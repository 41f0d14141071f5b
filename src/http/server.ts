// The HTTP surface: routes, one error handler, and the rules every answer follows.

import { createHash, randomUUID, timingSafeEqual } from 'node:crypto';
import type { IncomingMessage, ServerResponse } from 'node:http';
import fastify, { type FastifyInstance, type FastifyReply, type FastifyRequest } from 'fastify';
import { AppError } from '../errors.ts';
import type { HealthReport } from '../telemetry/health.ts';
import type { Logger } from '../telemetry/logger.ts';
import { askedUrl } from './transport/asked-url.ts';
import { refuseBrokenRequest } from './transport/broken-request.ts';
import { answerPreflight, isPreflight } from './transport/cors.ts';
import { drainRest, stayForRest } from './transport/drain.ts';
import { type OverlayDependencies, overlayRoute } from './overlay/overlay-route.ts';
import { type ErrorPage, problemHeaders, toProblem } from './reference/problem.ts';
import { createRouteTable, type RouteGroup } from './route-group.ts';
import { PROBLEMS } from './reference/statuses.ts';
import { traceIdOf } from './transport/trace.ts';

export interface ServerDependencies extends OverlayDependencies {
  readonly logger: Logger;
  /** Where callers reach the service; empty: wherever they say they did. */
  readonly publicUrl: string;
  /** Whose word about a caller's address counts. */
  readonly trustProxy: false | number | string[];
  readonly health: () => HealthReport;
  /** Why this server should get no requests now; undefined when it should. */
  readonly readiness: () => Promise<string | undefined>;
  /** What `/metrics` wants to see as a bearer token; empty: nothing. */
  readonly metricsToken: string;
  /** True once the server has been asked to stop. It may go on serving until load balancers know. */
  readonly isLeaving: () => boolean;
  /** True once nothing new is served. */
  readonly isClosing: () => boolean;
  /** What is served beside the API. */
  readonly groups: readonly RouteGroup[];
  /** An error as a page, for people who opened a path of the site in a browser. */
  readonly errorPage: ErrorPage;
}

const OVERLAY_PATH = '/v1/overlay';
const HEADERS_TIMEOUT_MS = 10_000;
/** How often Node looks for connections past their time. Its own 30 seconds would make 40 of the 10 above. */
const TIMEOUT_CHECK_MS = 2_000;
const REQUEST_TIMEOUT_MS = 300_000;
/** Longer than the idle time of common load balancers, so that they close connections and not we. */
const KEEP_ALIVE_MS = 65_000;

export function createServer(dependencies: ServerDependencies): FastifyInstance {
  const app = fastify({
    genReqId: () => randomUUID(),
    trustProxy: trustOf(dependencies.trustProxy),
    requestTimeout: REQUEST_TIMEOUT_MS,
    keepAliveTimeout: KEEP_ALIVE_MS,
    return503OnClosing: false,
    routerOptions: { ignoreTrailingSlash: true },
    // A request without Host is no worse than one with a wrong one: neither decides anything here.
    http: { requireHostHeader: false, connectionsCheckingInterval: TIMEOUT_CHECK_MS },
    clientErrorHandler: refuseBrokenRequest,
    frameworkErrors: (_error, request, reply) => {
      answerError(new AppError('not_found', 'The path cannot be read.'), request, reply, dependencies);
    },
  });
  app.server.headersTimeout = HEADERS_TIMEOUT_MS;
  answerExpectationsOurselves(app);
  // Bodies are streamed by whoever wants them; the framework never reads one.
  app.removeAllContentTypeParsers();
  app.addContentTypeParser('*', (_request, _payload, done) => done(null));
  const groups = [apiRoutes(dependencies), ...dependencies.groups];
  addHooks(app, dependencies, createRouteTable(groups));
  for (const group of groups) group.register(app);
  app.setNotFoundHandler(() => {
    throw new AppError('not_found', 'There is nothing at this path.');
  });
  return app;
}

/** A number is how many proxies stand in a row before us. */
function trustOf(
  proxies: ServerDependencies['trustProxy'],
): false | string[] | ((address: string, hop: number) => boolean) {
  return typeof proxies === 'number' ? (_address, hop) => hop < proxies : proxies;
}

function apiRoutes(dependencies: ServerDependencies): RouteGroup {
  const { metrics } = dependencies;
  return {
    paths: {
      [OVERLAY_PATH]: 'POST',
      '/ping': 'GET, HEAD',
      '/health': 'GET, HEAD',
      '/ready': 'GET, HEAD',
      '/metrics': 'GET, HEAD',
    },
    register: (app) => {
      app.post(OVERLAY_PATH, overlayRoute(dependencies));
      app.get('/ping', (_request, reply) => reply.type('text/plain').send('pong\n'));
      app.get('/health', (_request, reply) => reply.header('cache-control', 'no-store').send(dependencies.health()));
      app.get('/ready', async (_request, reply) => {
        const fault = await dependencies.readiness();
        return await reply.code(fault === undefined ? 200 : 503).send({ ready: fault === undefined, fault });
      });
      app.get('/metrics', async (request, reply) => {
        assertMetricsToken(request, dependencies.metricsToken);
        return await reply.type(metrics.contentType).send(await metrics.text());
      });
    },
  };
}

/** Figures are nobody's business but the operator's, where the operator says so. */
function assertMetricsToken({ headers }: FastifyRequest, token: string): void {
  const given = createHash('sha256')
    .update(headers.authorization ?? '')
    .digest();
  const wanted = createHash('sha256').update(`Bearer ${token}`).digest();
  if (token === '' || timingSafeEqual(given, wanted)) return;
  throw new AppError('missing_api_key', 'Send the token for metrics as `authorization: Bearer <token>`.');
}

type AllowOf = ReturnType<typeof createRouteTable>;

function pathOf({ url }: FastifyRequest): string {
  return (url.split('?', 1)[0] ?? '').replace(/(?<=.)\/$/u, '');
}

/** Before anything else is looked at: is there such a path, and does it take this method? */
function assertRoute(allowOf: AllowOf, request: FastifyRequest, reply: FastifyReply): void {
  const allow = allowOf(pathOf(request));
  if (allow === undefined) throw new AppError('not_found', 'There is nothing at this path.');
  if (allow.split(', ').includes(request.method)) return;
  reply.header('allow', allow);
  throw new AppError('method_not_allowed', `This path takes ${allow} only.`);
}

function addHooks(app: FastifyInstance, dependencies: ServerDependencies, allowOf: AllowOf): void {
  const { logger, isLeaving, isClosing } = dependencies;
  app.addHook('onRequest', async (request, reply) => {
    reply.headers(commonHeaders(request));
    if (isClosing()) {
      throw new AppError('shutting_down', 'This server is shutting down. Try again.', { retryAfterSeconds: 1 });
    }
    if (isPreflight(request) && pathOf(request) === OVERLAY_PATH) return await answerPreflight(reply).send();
    assertRoute(allowOf, request, reply);
  });
  // Whoever is served last must not keep the connection: closing waits for it, and a balancer would send the next here.
  app.addHook('onSend', async (_request, reply) => {
    if (isLeaving()) reply.header('connection', 'close');
  });
  app.addHook('onResponse', async (request, reply) => {
    drainRest(request.raw);
    dependencies.metrics.moved('received', Number(request.headers['content-length'] ?? 0) || 0);
    dependencies.metrics.moved('sent', Number(reply.getHeader('content-length') ?? 0) || 0);
    const traceId = traceIdOf(request.headers.traceparent);
    const entry = { renderId: request.id, status: reply.statusCode, ms: Math.round(reply.elapsedTime) };
    logger.info({ ...entry, ...(traceId !== undefined && { traceId }) }, 'answered');
  });
  app.setErrorHandler((error, request, reply) => {
    const known = error instanceof AppError ? error : fromFramework(error);
    const { status } = PROBLEMS[known.code];
    const entry = { renderId: request.id, code: known.code, status };
    if (known.code === 'internal_error') logger.error({ ...entry, err: error }, 'request failed');
    // A crowd must not fill the log, and a refusal has to stay cheap: how many there are is in the metrics.
    else if (status >= 500 && known.code !== 'overloaded')
      logger.warn({ ...entry, err: known.cause }, 'request failed');
    else if (known.code === 'client_closed') logger.info(entry, 'client went away');
    else logger.debug(entry, 'request refused');
    answerError(known, request, reply, dependencies);
  });
}

/** What the framework refuses by itself is the caller's fault; anything else that is thrown is ours. */
function fromFramework(error: unknown): AppError {
  const { code, statusCode = 500 } = error as { code?: string; statusCode?: number };
  if (code === 'FST_ERR_CTP_INVALID_MEDIA_TYPE') {
    return new AppError('unsupported_content_type', 'Send the request as multipart/form-data.', { cause: error });
  }
  if (statusCode >= 400 && statusCode < 500) {
    return new AppError('malformed_body', 'The HTTP request is malformed.', { cause: error });
  }
  return new AppError('internal_error', 'Something went wrong on our side.', { cause: error });
}

function answerError(
  error: AppError,
  request: FastifyRequest,
  reply: FastifyReply,
  { publicUrl, errorPage }: Pick<ServerDependencies, 'publicUrl' | 'errorPage'>,
): void {
  if (reply.raw.headersSent || error.code === 'client_closed') {
    // Nobody to tell, or half an answer on the wire: only cutting the connection is honest.
    reply.hijack();
    reply.raw.destroy();
    return;
  }
  stayForRest(request.raw, reply.raw);
  const problem = toProblem(error, request.id, publicUrl || askedUrl(request));
  const headers = { ...commonHeaders(request), ...problemHeaders(error) };
  const asPage = wantsPage(request);
  const body = asPage ? errorPage.render(problem) : JSON.stringify(problem);
  reply
    .code(problem.status)
    .headers(asPage ? { ...headers, ...errorPage.headers } : headers)
    .send(body);
}

/** A browser that goes somewhere says that it wants HTML. The API speaks JSON to everybody. */
function wantsPage({ method, url, headers }: FastifyRequest): boolean {
  if (url.startsWith('/v1/') || !/\btext\/html\b/u.test(headers.accept ?? '')) return false;
  return method === 'GET' || method === 'HEAD' || headers['sec-fetch-mode'] === 'navigate';
}

function commonHeaders(request: FastifyRequest): Record<string, string> {
  return { 'x-render-id': request.id, 'x-content-type-options': 'nosniff' };
}

/** `Expect: 100-continue` is answered by the route, after the key has been checked. */
function answerExpectationsOurselves(app: FastifyInstance): void {
  const pass = (request: IncomingMessage, response: ServerResponse): void => {
    app.server.emit('request', request, response);
  };
  app.server.on('checkContinue', pass);
  // An expectation nobody has heard of is no reason to refuse.
  app.server.on('checkExpectation', pass);
}
