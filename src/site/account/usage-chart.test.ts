import { describe, expect, it } from 'vitest';
import { countDays, outcomeLabel } from './outcomes.ts';
import { creditMeter, niceMaximum, usageChart } from './usage-chart.ts';

const day = (outcome: string, renders: number, mode: 'live' | 'test' = 'live') => ({
  day: '2026-03-01',
  mode,
  outcome,
  renders,
  credits: renders,
});

describe('the usage chart', () => {
  it('the usage chart counts four series per day, including days without renders and across the end of a month', () => {
    const rows = [day('delivered', 5), day('delivered', 2, 'test'), day('rate_limited', 3), day('overloaded', 1)];
    const days = countDays(rows, new Date('2026-02-27T23:00:00Z'), 4);
    expect(days.map((item) => item.day)).toEqual(['2026-02-27', '2026-02-28', '2026-03-01', '2026-03-02']);
    expect(days[2]).toEqual({ day: '2026-03-01', delivered: 5, test: 2, refused: 3, failed: 1 });
    expect(days[3]).toMatchObject({ delivered: 0 });
  });

  it('the usage chart counts broken downloads with the requests that a client ended, charged or not', () => {
    const rows = [day('delivery_broken', 2), day('aborted', 1)];
    expect(countDays(rows, new Date('2026-03-01'), 1)[0]).toMatchObject({ delivered: 0, refused: 3, failed: 0 });
    expect(['delivery_broken', 'aborted'].map(outcomeLabel)).toEqual([
      'Download broken (free)',
      'Download broken (charged)',
    ]);
  });

  it('the usage chart counts an unknown outcome as a server error', () => {
    expect(countDays([day('lost', 1)], new Date('2026-03-01'), 1)[0]).toMatchObject({ failed: 1 });
  });

  it('the usage chart keeps its columns inside the drawing and repeats the numbers in a table', () => {
    const text = usageChart(countDays([day('delivered', 1_234)], new Date('2026-02-15'), 30)).text;
    for (const [, y = ''] of text.matchAll(/ y="([\d.-]+)"/gu)) expect(Number(y)).toBeGreaterThanOrEqual(0);
    expect(text).toContain('1,234 in total');
    expect(text.replaceAll(/<\/?span>| (?:role|data-label)="[^"]*"/gu, '')).toContain(
      '<td>2026-03-01</td><td>1,234</td>',
    );
    expect(text).not.toMatch(/style=|NaN|undefined/u);
  });

  it('names only the series that occur, and the last day as today', () => {
    const today = new Date();
    const rows = [{ ...day('rate_limited', 2), day: today.toISOString().slice(0, 10) }];
    const { text } = usageChart(countDays(rows, new Date(today.getTime() - 29 * 86_400_000), 30));
    const [, legend = ''] = text.split('class="legend"');
    expect(legend.split('</ul>')[0]).toContain('Rejected (4xx)');
    expect(legend.split('</ul>')[0]).not.toContain('Delivered');
    expect(text).toMatch(/<text class="last"[^>]*>Today</u);
    expect(usageChart(countDays([day('delivered', 1)], new Date('2026-02-25'), 5)).text).toContain('>Mar 1<');
  });

  it.each([
    [1, 1],
    [3, 4],
    [10, 10],
    [11, 20],
    [3_140, 4_000],
    [999, 1_000],
  ])('the usage chart scales its axis for a maximum of %d to %d', (value, top) => {
    expect(niceMaximum(value)).toBe(top);
  });

  it('the usage chart has an empty credit meter for a plan without credits', () => {
    expect(creditMeter(0, 0).text).toContain('0 percent');
    expect(creditMeter(50, 200).text).toContain('width="25.00"');
  });
});
