import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { AppError, type FieldFault } from '../../shared/errors.ts';
import { parseForm } from './form.ts';
import { must } from '../../shared/must.ts';
import { areShownTogether, isShownAt } from './timing-field.ts';

function parse(item: object): { times: object; faults: readonly FieldFault[] } {
  const fields = [{ name: 'overlays', value: [{ text: 'a' }, { text: 'b' }, { text: 'c', ...item }] }];
  try {
    const {
      text: _text,
      position: _position,
      ...times
    } = must(parseForm({ fields, isJson: true, hasAsset: true, faults: [] }).overlays[2], 'the overlay');
    return { times, faults: [] };
  } catch (error) {
    if (error instanceof AppError) return { times: {}, faults: error.faults };
    throw error;
  }
}

describe('start and end of an overlay', () => {
  it.each([
    [{}, {}],
    [{ start: null, end: null }, {}],
    [{ start: 0 }, { start: 0 }],
    [{ end: 0.001 }, { end: 0.001 }],
    [
      { start: 1.5, end: 2 },
      { start: 1.5, end: 2 },
    ],
    [{ start: 1e12 }, { start: 1e12 }],
  ])('accepts %j', (item, times) => {
    expect(parse(item)).toEqual({ times, faults: [] });
  });

  it.each([
    [{ start: '1' }, 'start', 'wrong_type', 'Start must be a number; got a string.'],
    [{ end: true }, 'end', 'wrong_type', 'End must be a number; got a boolean.'],
    [{ start: -0.1 }, 'start', 'out_of_range', 'Start must be at least 0; got -0.1.'],
    [{ end: JSON.parse('1e999') }, 'end', 'out_of_range', 'End must be above 0; got Infinity.'],
    [{ end: 0 }, 'end', 'out_of_range', 'End must be above 0; got 0.'],
    [{ start: 2, end: 2 }, 'end', 'out_of_range', 'End must be later than start (2); got 2.'],
    [{ start: 2, end: 1 }, 'end', 'out_of_range', 'End must be later than start (2); got 1.'],
  ])('rejects %j', (item, field, code, detail) => {
    expect(parse(item).faults).toEqual([{ pointer: `#/overlays/2/${field}`, code, detail }]);
  });

  it('reports the faults of both', () => {
    expect(parse({ start: -1, end: 'x' }).faults.map(({ pointer }) => pointer)).toEqual([
      '#/overlays/2/start',
      '#/overlays/2/end',
    ]);
  });
});

describe('isShownAt', () => {
  it('includes the millisecond of the start and excludes that of the end, for any decimal number', () => {
    const milliseconds = fc.integer({ min: 0, max: 600_000 });
    fc.assert(
      fc.property(milliseconds, milliseconds, (one, other) => {
        fc.pre(one !== other);
        const [first, last] = [Math.min(one, other), Math.max(one, other)];
        // As a client writes them.
        const times = { start: Number((first / 1_000).toFixed(3)), end: Number((last / 1_000).toFixed(3)) };
        expect([first - 1, first, last - 1, last].map((time) => isShownAt(times, time))).toEqual([
          false,
          true,
          true,
          false,
        ]);
      }),
      { seed: 17, numRuns: 500 },
    );
  });

  it('shows a bar without times always', () => {
    expect(isShownAt({}, 0)).toBe(true);
    expect(isShownAt({ start: 1 }, 86_400_000)).toBe(true);
    expect(isShownAt({ end: 1 }, 0)).toBe(true);
  });
});

describe('areShownTogether', () => {
  it.each([
    [{}, {}, true],
    [{ end: 2 }, { start: 2 }, false],
    [{ end: 2.001 }, { start: 2 }, true],
    [{ start: 1, end: 2 }, { start: 0, end: 3 }, true],
    [{ start: 1, end: 2 }, { start: 3, end: 4 }, false],
  ])('%j and %j: %s', (one, other, expected) => {
    expect(areShownTogether(one, other)).toBe(expected);
    expect(areShownTogether(other, one)).toBe(expected);
  });
});
