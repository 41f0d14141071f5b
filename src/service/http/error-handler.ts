// Turns every error that is thrown while a request is handled into one response, and into the error of its log line.

import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { AppError, asAppError } from '../../shared/errors.ts';
import { type ErrorPage, problemHeaders, toProblem } from '../api/problem.ts';
import { keepOpenForUpload } from './transport/drain.ts';
import { requestBaseUrl } from './transport/request-base-url.ts';
import { recordOf } from './transport/request-record.ts';

export interface ErrorDependencies {
  /** The base URL for links in responses. If empty, it is taken from each request. */
  readonly publicUrl: string;
  /** Renders an error as an HTML page, for a visitor who opened a page of the site in a browser. */
  readonly errorPage: ErrorPage;
}

export function addErrorHandler(app: FastifyInstance, dependencies: ErrorDependencies): void {
  app.setErrorHandler((error, request, reply) => {
    const known = toAppError(error);
    recordOf(request).error = known;
    sendError(known, request, reply, dependencies);
  });
}

/** Fastify's own 4xx errors are the client's fault. Anything else that isn't an `AppError` is a bug. */
export function toAppError(error: unknown): AppError {
  if (error instanceof AppError) return error;
  const { code, statusCode = 500 } = error as { code?: string; statusCode?: number };
  if (code === 'FST_ERR_CTP_INVALID_MEDIA_TYPE') {
    return new AppError('unsupported_content_type', 'The content type of the request is not valid.', { cause: error });
  }
  if (statusCode >= 400 && statusCode < 500) {
    return new AppError('malformed_body', 'The HTTP request is malformed.', { cause: error });
  }
  return asAppError(error);
}

export function sendError(
  error: AppError,
  request: FastifyRequest,
  reply: FastifyReply,
  { publicUrl, errorPage }: Pick<ErrorDependencies, 'publicUrl' | 'errorPage'>,
): void {
  if (reply.raw.headersSent || error.code === 'client_closed') {
    // The client is gone, or has half a response. Only a closed connection can tell it that the response is incomplete.
    reply.hijack();
    reply.raw.destroy();
    return;
  }
  keepOpenForUpload(request.raw, reply.raw);
  const problem = toProblem(error, request.id, publicUrl || requestBaseUrl(request));
  reply.code(problem.status).headers(problemHeaders(error));
  if (acceptsPage(request)) reply.headers(errorPage.headers).send(errorPage.render(problem, request.url));
  else reply.send(JSON.stringify(problem));
}

/** Browsers accept HTML when they open a page. API requests get HTML only when a visitor opened their URL in a tab. */
function acceptsPage({ method, url, headers }: FastifyRequest): boolean {
  if (!/\btext\/html\b/u.test(headers.accept ?? '')) return false;
  const isTab = headers['sec-fetch-mode'] === 'navigate';
  const isRead = method === 'GET' || method === 'HEAD';
  return url.startsWith('/v1/') ? isTab && isRead : isTab || isRead;
}
