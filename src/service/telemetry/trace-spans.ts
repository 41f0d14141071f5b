// Builds the spans of a request after it has ended. Workers have no network and report only the durations of their
// steps, so the spans of these steps are laid out inside the render.

import { randomBytes } from 'node:crypto';

/** The span in which the caller's trace continues. */
export interface TraceParent {
  readonly traceId: string;
  readonly spanId: string;
  /** False if the caller has decided not to record the trace. */
  readonly isSampled: boolean;
}

export type SpanAttributes = Readonly<Record<string, string | number | undefined>>;

/** Times are milliseconds since 1970. */
export interface Span {
  readonly traceId: string;
  readonly spanId: string;
  readonly parentSpanId: string | undefined;
  readonly name: string;
  readonly kind: 'server' | 'internal';
  readonly start: number;
  readonly end: number;
  readonly attributes: SpanAttributes;
  readonly isError: boolean;
}

export interface TracedRequest {
  readonly name: string;
  readonly traceId: string;
  readonly parentSpanId: string | undefined;
  readonly start: number;
  readonly end: number;
  readonly attributes: SpanAttributes;
  /** True when the request failed because of the server. Its last step is marked as well. */
  readonly isError: boolean;
  /** Consecutive steps. Each ends where the next one begins. */
  readonly steps: readonly { readonly name: string; readonly start: number }[];
  /** Milliseconds of the render's own steps, in the order they started. */
  readonly timings: Readonly<Record<string, number>>;
}

const RENDER_STEP = 'render';

export function newTraceId(): string {
  return randomBytes(16).toString('hex');
}

export function spansOf(request: TracedRequest): Span[] {
  const { traceId, parentSpanId, name, start, end, attributes, isError, steps } = request;
  const root: Span = {
    traceId,
    spanId: newSpanId(),
    parentSpanId,
    name,
    kind: 'server',
    start,
    end,
    attributes,
    isError,
  };
  const spans = [root];
  for (const [index, step] of steps.entries()) {
    const next = steps[index + 1];
    const span = childOf(root, step.name, step.start, next?.start ?? end, isError && next === undefined);
    spans.push(span);
    if (step.name === RENDER_STEP) spans.push(...renderSteps(span, request.timings));
  }
  return spans;
}

/** Steps can overlap, so one that would end after the render is moved to the front. */
function renderSteps(render: Span, timings: TracedRequest['timings']): Span[] {
  let cursor = render.start;
  return Object.entries(timings).map(([name, milliseconds]) => {
    const start = Math.max(render.start, Math.min(cursor, render.end - milliseconds));
    cursor = Math.min(render.end, start + milliseconds);
    return childOf(render, name, start, cursor, false);
  });
}

function childOf({ traceId, spanId }: Span, name: string, start: number, end: number, isError: boolean): Span {
  return {
    traceId,
    spanId: newSpanId(),
    parentSpanId: spanId,
    name,
    kind: 'internal',
    start,
    end: Math.max(start, end),
    attributes: {},
    isError,
  };
}

function newSpanId(): string {
  return randomBytes(8).toString('hex');
}
