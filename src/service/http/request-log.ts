// One log line and one trace per request. They hold ids, sizes, times and codes, but never a path, a query string, a key or a
// caption.

import type { FastifyReply, FastifyRequest } from 'fastify';
import type { AppError } from '../../shared/errors.ts';
import type { LoggedRequest } from '../store/requests/request-log.ts';
import type { Logger } from '../telemetry/logger.ts';
import type { Metrics } from '../telemetry/metrics.ts';
import { ERRORS } from '../../shared/error-table.ts';
import { newTraceId, type Span, type SpanAttributes, spansOf } from '../telemetry/trace-spans.ts';
import { type RequestRecord, recordOf } from './transport/request-record.ts';
import { parseTraceparent } from '../telemetry/traceparent.ts';

/** Load balancers and monitoring request these every few seconds. */
const PROBES: ReadonlySet<string> = new Set(['/ping', '/health', '/ready', '/metrics']);

export interface RequestLogDependencies {
  readonly logger: Logger;
  readonly metrics: Metrics;
  /** Receives the spans of every request. Undefined when traces are off. */
  readonly traces: { add(spans: readonly Span[]): void } | undefined;
  /** Receives every authenticated request, for the log that customers see. It must not block. */
  readonly requests?: { add(request: LoggedRequest): void } | undefined;
}

interface SocketBytes {
  readonly read: number;
  readonly written: number;
}

/** The bytes that earlier requests on a kept-alive connection have transferred. */
const earlierBytes = new WeakMap<object, SocketBytes>();

/** Call once per request, before it can fail. */
export function logWhenEnded(
  request: FastifyRequest,
  reply: FastifyReply,
  { logger, metrics, traces, requests }: RequestLogDependencies,
): void {
  const { socket } = request.raw;
  // `reply.elapsedTime` stops with the response, which can be well before the request has ended.
  const startedAt = performance.now();
  recordOf(request).watch(reply, () => {
    const before = earlierBytes.get(socket) ?? { read: 0, written: 0 };
    const now = { read: socket.bytesRead, written: socket.bytesWritten };
    earlierBytes.set(socket, now);
    const bytes = { bytesIn: now.read - before.read, bytesOut: now.written - before.written };
    metrics.moved('received', bytes.bytesIn);
    metrics.moved('sent', bytes.bytesOut);
    const traceId = writeTrace(traces, request, reply, startedAt);
    writeLine(logger, request, reply, { ...bytes, traceId });
    const logged = requests && loggedRequest(request, reply, bytes);
    if (logged) requests.add(logged);
  });
}

/** Writes the trace and returns its id, if there is one. */
function writeTrace(
  traces: RequestLogDependencies['traces'],
  request: FastifyRequest,
  reply: FastifyReply,
  startedAt: number,
): string | undefined {
  const parent = parseTraceparent(request.headers.traceparent);
  const route = request.routeOptions.url ?? 'unknown';
  if (traces === undefined || parent?.isSampled === false || PROBES.has(route)) return parent?.traceId;
  const record = recordOf(request);
  const traceId = parent?.traceId ?? newTraceId();
  const onWallClock = (time: number): number => performance.timeOrigin + time;
  const spans = spansOf({
    name: `${request.method} ${route}`,
    traceId,
    parentSpanId: parent?.spanId,
    start: onWallClock(startedAt),
    end: onWallClock(performance.now()),
    attributes: attributesOf(request, reply, record),
    isError: isServerFault(record.error),
    steps: record.steps.map((step) => ({ name: step.name, start: onWallClock(step.start) })),
    timings: record.timings,
  });
  traces.add(spans);
  return traceId;
}

/** Names without a prefix are OpenTelemetry's own. */
function attributesOf(request: FastifyRequest, reply: FastifyReply, record: RequestRecord): SpanAttributes {
  return {
    'http.request.method': request.method,
    'http.route': request.routeOptions.url,
    'http.response.status_code': statusOf(reply, record.error),
    'error.type': record.error?.code,
    'storybar.request_id': request.id,
    'storybar.account_id': record.accountId,
    'storybar.key_id': record.keyId,
    'storybar.source_type': record.sourceType,
    'storybar.credits': record.credits,
    'storybar.worker': record.worker,
  };
}

function statusOf(reply: FastifyReply, error: AppError | undefined): number {
  return error ? ERRORS[error.code].status : reply.statusCode;
}

function writeLine(
  logger: Logger,
  request: FastifyRequest,
  reply: FastifyReply,
  transfer: { readonly bytesIn: number; readonly bytesOut: number; readonly traceId: string | undefined },
): void {
  const { accountId, keyId, sourceType, credits, worker, error } = recordOf(request);
  const route = request.routeOptions.url;
  // Fields without a value are left out of the line.
  const entry = {
    requestId: request.id,
    method: request.method,
    route: route ?? 'unknown',
    status: statusOf(reply, error),
    ...(error && describe(error)),
    ms: Math.round(reply.elapsedTime),
    ...(error?.code === 'deadline_exceeded' && whereTimeWent(recordOf(request))),
    accountId,
    keyId,
    sourceType,
    ...transfer,
    credits,
    worker,
  };
  if (isServerFault(error)) {
    const level = error.code === 'internal_error' ? 'error' : 'warn';
    logger[level]({ ...entry, err: error.cause ?? error }, 'request failed');
  } else logger[route !== undefined && PROBES.has(route) ? 'debug' : 'info'](entry, 'request completed');
}

/** For a request that ran out of time: the step that it was in, and how long it had waited for a worker. */
function whereTimeWent({ steps }: RequestRecord): { readonly stage: string | undefined; readonly waitedMs: number } {
  const now = performance.now();
  const waited = steps.map(({ name, start }, index) =>
    name === 'queue' ? (steps[index + 1]?.start ?? now) - start : 0,
  );
  return { stage: steps.at(-1)?.name, waitedMs: Math.round(waited.reduce((sum, ms) => sum + ms, 0)) };
}

const MAX_LOGGED_FAULTS = 20;
const MAX_POINTER = 100;

/** Returns the entry for the account's own log, or undefined when the request has no account. */
function loggedRequest(
  request: FastifyRequest,
  reply: FastifyReply,
  bytes: Pick<LoggedRequest, 'bytesIn' | 'bytesOut'>,
): LoggedRequest | undefined {
  const { accountId, keyId, credits, error } = recordOf(request);
  if (accountId === undefined) return undefined;
  const faults = (error?.faults ?? []).slice(0, MAX_LOGGED_FAULTS);
  return {
    id: request.id,
    accountId,
    at: new Date().toISOString(),
    keyId: keyId ?? null,
    path: `${request.method} ${request.routeOptions.url ?? 'unknown'}`,
    status: statusOf(reply, error),
    code: error?.code ?? null,
    durationMs: Math.round(reply.elapsedTime),
    credits: credits ?? 0,
    ...bytes,
    faults: faults.map(({ pointer, code }) => ({ pointer: pointer.slice(0, MAX_POINTER), code })),
  };
}

/** Overload rejects many requests and each must stay cheap, so it gets no stack trace. The metrics count it. */
function isServerFault(error: AppError | undefined): error is AppError {
  return error !== undefined && ERRORS[error.code].status >= 500 && error.code !== 'overloaded';
}

function describe({ code, faults, limit, message }: AppError): object {
  return {
    code,
    // Pointers are left out, because they contain names that the client chose.
    ...(faults.length > 0 && { faults: faults.map((fault) => fault.code) }),
    ...limit,
    ...(ERRORS[code].logsDetail && { detail: message }),
  };
}
