import { expect, it } from 'vitest';
import { traceIdOf } from './trace.ts';

const TRACE = '4bf92f3577b34da6a3ce929d0e0e4736';

it.each([
  [`00-${TRACE}-00f067aa0ba902b7-01`, TRACE],
  [`01-${TRACE}-00f067aa0ba902b7-01-more`, TRACE],
  [`ff-${TRACE}-00f067aa0ba902b7-01`, undefined],
  [`00-${'0'.repeat(32)}-00f067aa0ba902b7-01`, undefined],
  [`00-${TRACE}-${'0'.repeat(16)}-01`, undefined],
  [`00-${TRACE.toUpperCase()}-00f067aa0ba902b7-01`, undefined],
  ['nonsense', undefined],
  [undefined, undefined],
])('reads from the traceparent header %s the trace id %s', (header, trace) => {
  expect(traceIdOf(header)).toBe(trace);
});
