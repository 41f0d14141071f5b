// One log line per request. It holds ids, sizes, times and codes, but never a path, a query string, a key or a caption.

import type { FastifyReply, FastifyRequest } from 'fastify';
import type { AppError, ErrorCode } from '../errors.ts';
import type { Logger } from '../telemetry/logger.ts';
import type { Metrics } from '../telemetry/metrics.ts';
import { PROBLEMS } from './reference/statuses.ts';
import { recordOf } from './transport/request-record.ts';
import { traceIdOf } from './transport/trace.ts';

/** Load balancers and monitoring ask for these every few seconds. */
const PROBES: ReadonlySet<string> = new Set(['/ping', '/health', '/ready', '/metrics']);

/** Errors about the asset or the transfer. Their text names what is wrong with the file and quotes nothing from the form. */
const CODES_WITH_DETAIL: ReadonlySet<ErrorCode> = new Set([
  'malformed_body',
  'upload_too_slow',
  'unsupported_asset',
  'asset_too_large',
  'asset_too_many_pixels',
  'asset_dimensions_too_large',
  'asset_too_long',
  'asset_frame_rate_too_high',
  'asset_undecodable',
]);

export interface RequestLogDependencies {
  readonly logger: Logger;
  readonly metrics: Metrics;
}

interface SocketBytes {
  readonly read: number;
  readonly written: number;
}

/** What earlier requests on a kept-alive connection have transferred. */
const earlierBytes = new WeakMap<object, SocketBytes>();

/** Call once per request, before it can fail. */
export function logWhenEnded(
  request: FastifyRequest,
  reply: FastifyReply,
  { logger, metrics }: RequestLogDependencies,
): void {
  const { socket } = request.raw;
  recordOf(request).watch(reply, () => {
    const before = earlierBytes.get(socket) ?? { read: 0, written: 0 };
    const now = { read: socket.bytesRead, written: socket.bytesWritten };
    earlierBytes.set(socket, now);
    const bytes = { bytesIn: now.read - before.read, bytesOut: now.written - before.written };
    metrics.moved('received', bytes.bytesIn);
    metrics.moved('sent', bytes.bytesOut);
    writeLine(logger, request, reply, bytes);
  });
}

function writeLine(
  logger: Logger,
  request: FastifyRequest,
  reply: FastifyReply,
  bytes: { readonly bytesIn: number; readonly bytesOut: number },
): void {
  const { accountId, keyId, sourceType, credits, worker, error } = recordOf(request);
  const route = request.routeOptions.url;
  // Fields without a value are left out of the line.
  const entry = {
    renderId: request.id,
    method: request.method,
    route: route ?? 'unknown',
    status: error ? PROBLEMS[error.code].status : reply.statusCode,
    ...(error && describe(error)),
    ms: Math.round(reply.elapsedTime),
    ...{ accountId, keyId, sourceType, ...bytes, credits, worker },
    traceId: traceIdOf(request.headers.traceparent),
  };
  if (isServerFault(error)) {
    const level = error.code === 'internal_error' ? 'error' : 'warn';
    logger[level]({ ...entry, err: error.cause ?? error }, 'request failed');
  } else logger[route !== undefined && PROBES.has(route) ? 'debug' : 'info'](entry, 'request completed');
}

/** Overload rejects many requests and each must stay cheap, so it gets no stack trace; the metrics count it. */
function isServerFault(error: AppError | undefined): error is AppError {
  return error !== undefined && PROBLEMS[error.code].status >= 500 && error.code !== 'overloaded';
}

function describe({ code, faults, limit, message }: AppError): object {
  return {
    code,
    // Without their pointers, which contain names that the client chose.
    ...(faults.length > 0 && { faults: faults.map((fault) => fault.code) }),
    ...limit,
    ...(CODES_WITH_DETAIL.has(code) && { detail: message }),
  };
}
