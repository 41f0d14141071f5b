import { describe, expect, it } from 'vitest';
import { sparkline, tiles, weekChange } from './tiles.ts';

const days = (before: number, now: number): number[] => [
  ...Array.from({ length: 7 }, () => before),
  ...Array.from({ length: 7 }, () => now),
];

describe('tiles', () => {
  it.each([
    [days(0, 0), 'none in the two weeks before today'],
    [days(0, 3), 'none in the week before'],
    [days(4, 5), '25 % more than in the week before'],
    [days(5, 4), '20 % fewer than in the week before'],
    [days(5, 5), 'as many as in the week before'],
    [[9, 9, 9, ...days(1, 2)], '100 % more than in the week before'],
  ])('the last week of %j is %s', (values, words) => {
    expect(weekChange(values)).toBe(words);
  });

  it('a trend stays inside its drawing and is hidden from screen readers', () => {
    const { text } = sparkline([0, 0, 1_000, 500]);
    for (const [, x = '', y = ''] of text.matchAll(/([\d.]+),([\d.]+)/gu)) {
      expect(Number(x)).toBeLessThanOrEqual(120);
      expect(Number(y)).toBeLessThanOrEqual(28);
    }
    expect(text).toContain('aria-hidden="true"');
    expect(sparkline([7]).text).not.toMatch(/NaN|Infinity/u);
  });

  it('a tile escapes its figure and leaves out what it has not', () => {
    const { text } = tiles([{ label: 'Renders', value: '<3' }]);
    expect(text).toContain('<dt>Renders</dt><dd><span class="value">&lt;3</span>');
    expect(text).not.toMatch(/svg|small/u);
  });
});
