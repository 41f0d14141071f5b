// Errors as RFC 9457 problem details.

import type { AppError } from '../../shared/errors.ts';
import type { ResponseOf } from './response-schemas.ts';
import { ERRORS } from '../../shared/error-table.ts';

const PROBLEM_TYPE = 'application/problem+json; charset=utf-8';
/** The two ways to send a key. */
const CHALLENGES = 'ApiKey realm="storybar", header="x-api-key", Bearer realm="storybar"';
export const ERROR_DOCS_PATH = '/docs/errors';

export type Problem = ResponseOf<'Problem'>;

/** Renders an error as an HTML page for browsers. */
export interface ErrorPage {
  readonly headers: Readonly<Record<string, string>>;
  /** `path` is what the visitor opened. */
  readonly render: (problem: Problem, path: string) => string;
}

/** `baseUrl` is the URL under which the client reaches this server, if known. */
export function toProblem(error: AppError, requestId: string, baseUrl = 'http://localhost'): Problem {
  const kind = ERRORS[error.code];
  return {
    type: `${baseUrl}${ERROR_DOCS_PATH}#${error.code}`,
    title: kind.title,
    status: kind.status,
    detail: error.message,
    instance: requestId,
    code: error.code,
    ...(error.faults.length > 0 && { errors: error.faults }),
    ...error.limit,
    ...(error.warnings.length > 0 && { warnings: error.warnings }),
    ...(error.upstreamStatus !== undefined && { upstream_status: error.upstreamStatus }),
    ...(error.renewsAt && { renewsAt: error.renewsAt.toISOString() }),
  };
}

export function problemHeaders(error: AppError): Record<string, string> {
  const headers: Record<string, string> = { 'content-type': PROBLEM_TYPE, 'cache-control': 'no-store' };
  if (ERRORS[error.code].status === 401) headers['www-authenticate'] = CHALLENGES;
  if (error.retryAfterSeconds !== undefined) headers['retry-after'] = String(error.retryAfterSeconds);
  return headers;
}
