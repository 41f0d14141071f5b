// W3C trace context: the client's trace id goes into the logs.

/** https://www.w3.org/TR/trace-context/#traceparent-header */
const TRACEPARENT = /^[\da-f]{2}-(?<trace>[\da-f]{32})-(?<parent>[\da-f]{16})-[\da-f]{2}(?:-.*)?$/u;

/** The client's trace id; undefined when the header is missing or invalid. */
export function traceIdOf(traceparent: string | string[] | undefined): string | undefined {
  if (typeof traceparent !== 'string') return undefined;
  const { trace, parent } = TRACEPARENT.exec(traceparent)?.groups ?? {};
  if (trace === undefined || /^0+$/u.test(trace) || /^0+$/u.test(parent ?? '0') || traceparent.startsWith('ff')) {
    return undefined;
  }
  return trace;
}
