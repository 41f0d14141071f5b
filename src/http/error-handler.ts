// Turns everything that is thrown while a request is handled into one log line and one response.

import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { AppError } from '../errors.ts';
import type { Logger } from '../telemetry/logger.ts';
import { type ErrorPage, problemHeaders, toProblem } from './reference/problem.ts';
import { PROBLEMS } from './reference/statuses.ts';
import { keepOpenForUpload } from './transport/drain.ts';
import { requestBaseUrl } from './transport/request-base-url.ts';

export interface ErrorDependencies {
  readonly logger: Logger;
  /** Base URL for links in responses; empty: taken from each request. */
  readonly publicUrl: string;
  /** Renders an error as an HTML page, for a visitor who opened a page of the site in a browser. */
  readonly errorPage: ErrorPage;
}

export function addErrorHandler(app: FastifyInstance, dependencies: ErrorDependencies): void {
  app.setErrorHandler((error, request, reply) => {
    const known = error instanceof AppError ? error : fromFramework(error);
    logError(dependencies.logger, request, known);
    sendError(known, request, reply, dependencies);
  });
}

/** Fastify's own 4xx errors are the client's fault. Anything else that isn't an `AppError` is a bug. */
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

function logError(logger: Logger, request: FastifyRequest, error: AppError): void {
  const { code } = error;
  const { status } = PROBLEMS[code];
  const entry = { renderId: request.id, route: request.routeOptions.url, code, status };
  if (code === 'internal_error') logger.error({ ...entry, err: error.cause ?? error }, 'request failed');
  // Overload rejects many requests and each must stay cheap: the metrics count them.
  else if (status >= 500 && code !== 'overloaded')
    logger.warn({ ...entry, err: error.cause ?? error }, 'request failed');
  else if (code === 'client_closed') logger.info(entry, 'client disconnected');
  else logger.debug(entry, 'request rejected');
}

export function sendError(
  error: AppError,
  request: FastifyRequest,
  reply: FastifyReply,
  { publicUrl, errorPage }: Pick<ErrorDependencies, 'publicUrl' | 'errorPage'>,
): void {
  if (reply.raw.headersSent || error.code === 'client_closed') {
    // The client is gone, or has half a response. Only a closed connection tells it that the response is incomplete.
    reply.hijack();
    reply.raw.destroy();
    return;
  }
  keepOpenForUpload(request.raw, reply.raw);
  const problem = toProblem(error, request.id, publicUrl || requestBaseUrl(request));
  reply.code(problem.status).headers(problemHeaders(error));
  if (acceptsPage(request)) reply.headers(errorPage.headers).send(errorPage.render(problem));
  else reply.send(JSON.stringify(problem));
}

/** Browsers accept HTML when they open a page. The API responds in JSON only. */
function acceptsPage({ method, url, headers }: FastifyRequest): boolean {
  if (url.startsWith('/v1/') || !/\btext\/html\b/u.test(headers.accept ?? '')) return false;
  return method === 'GET' || method === 'HEAD' || headers['sec-fetch-mode'] === 'navigate';
}
