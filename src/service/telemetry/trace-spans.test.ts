import { describe, expect, it } from 'vitest';
import { type Span, spansOf, type TracedRequest } from './trace-spans.ts';

const REQUEST: TracedRequest = {
  name: 'POST /v1/overlay',
  traceId: 'a'.repeat(32),
  parentSpanId: 'b'.repeat(16),
  start: 1_000,
  end: 2_000,
  attributes: {},
  isError: false,
  steps: [
    { name: 'receive', start: 1_010 },
    { name: 'queue', start: 1_100 },
    { name: 'render', start: 1_200 },
    { name: 'deliver', start: 1_800 },
  ],
  timings: {},
};
const times = (spans: readonly Span[]): string[] => spans.map(({ name, start, end }) => `${name} ${start}-${end}`);

describe('spansOf', () => {
  it('lets every step end where the next one begins, and the last one with the request', () => {
    const spans = spansOf(REQUEST);
    expect(times(spans)).toEqual([
      'POST /v1/overlay 1000-2000',
      'receive 1010-1100',
      'queue 1100-1200',
      'render 1200-1800',
      'deliver 1800-2000',
    ]);
    const [root, ...steps] = spans;
    expect(root).toMatchObject({ kind: 'server', parentSpanId: REQUEST.parentSpanId });
    for (const step of steps) expect(step).toMatchObject({ kind: 'internal', parentSpanId: root?.spanId });
    expect(new Set(spans.map(({ spanId }) => spanId)).size).toBe(spans.length);
  });

  it('lays out the steps of the worker inside the render, also when they overlapped', () => {
    const spans = spansOf({ ...REQUEST, timings: { decode: 300, draw: 100, encode: 400, blend: 9_000 } });
    const render = spans.find(({ name }) => name === 'render');
    const children = spans.filter(({ parentSpanId }) => parentSpanId === render?.spanId);
    expect(times(children)).toEqual(['decode 1200-1500', 'draw 1500-1600', 'encode 1400-1800', 'blend 1200-1800']);
  });

  it('marks the request and the step in which it failed', () => {
    const failed = spansOf({ ...REQUEST, isError: true }).filter(({ isError }) => isError);
    expect(failed.map(({ name }) => name)).toEqual(['POST /v1/overlay', 'deliver']);
  });
});
