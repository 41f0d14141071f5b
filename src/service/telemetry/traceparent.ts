// W3C trace context, which continues the client's trace.

import type { TraceParent } from './trace-spans.ts';

/** https://www.w3.org/TR/trace-context/#traceparent-header */
const TRACEPARENT = /^[\da-f]{2}-(?<trace>[\da-f]{32})-(?<parent>[\da-f]{16})-(?<flags>[\da-f]{2})(?:-.*)?$/u;
const SAMPLED = 1;

/** Returns undefined when the header is missing or invalid. */
export function parseTraceparent(traceparent: string | string[] | undefined): TraceParent | undefined {
  if (typeof traceparent !== 'string') return undefined;
  const { trace, parent, flags = '' } = TRACEPARENT.exec(traceparent)?.groups ?? {};
  if (trace === undefined || parent === undefined || traceparent.startsWith('ff')) return undefined;
  if (/^0+$/u.test(trace) || /^0+$/u.test(parent)) return undefined;
  return { traceId: trace, spanId: parent, isSampled: (Number.parseInt(flags, 16) & SAMPLED) === SAMPLED };
}
