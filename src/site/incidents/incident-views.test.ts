import { describe, expect, it } from 'vitest';
import type { Incident } from '../../service/store/incidents/incidents.ts';
import { historyBars, historyOf } from './incident-views.ts';

const NOW = new Date('2026-04-01T12:00:00Z');
const LONG_AGO = new Date('2025-01-01T00:00:00Z');
const incident = (startedAt: string, endedAt: string | null, impact: Incident['impact'] = 'degraded'): Incident => ({
  id: startedAt,
  title: 'Title',
  impact,
  startedAt,
  endedAt,
  updates: [],
});
const statesOf = (incidents: readonly Incident[], begunAt = LONG_AGO): Record<string, string> =>
  Object.fromEntries(
    historyOf(incidents, begunAt, NOW)
      .filter(({ state }) => state !== 'none')
      .map(({ day, state }) => [day, state]),
  );

describe('the history of 90 days', () => {
  it('the history ends today and has one entry per day', () => {
    const days = historyOf([], LONG_AGO, NOW);
    expect(days).toHaveLength(90);
    expect([days[0]?.day, days.at(-1)?.day]).toEqual(['2026-01-02', '2026-04-01']);
    expect(historyBars(days).text).toContain('No incident was reported in the last 90 days.');
  });

  it('an incident counts on every day that it touches, and an open one until today', () => {
    expect(statesOf([incident('2026-03-09T23:59:00Z', '2026-03-11T00:01:00Z')])).toEqual({
      '2026-03-09': 'degraded',
      '2026-03-10': 'degraded',
      '2026-03-11': 'degraded',
    });
    expect(Object.keys(statesOf([incident('2026-03-30T00:00:00Z', null)]))).toEqual([
      '2026-03-30',
      '2026-03-31',
      '2026-04-01',
    ]);
  });

  it('a day shows the worst of its incidents', () => {
    const day = (impact: Incident['impact']): Incident =>
      incident('2026-03-09T10:00:00Z', '2026-03-09T11:00:00Z', impact);
    expect(statesOf([day('maintenance'), day('outage'), day('degraded')])).toEqual({ '2026-03-09': 'outage' });
  });

  it('days before the service existed are unknown instead of fine', () => {
    const states = Object.values(statesOf([], new Date('2026-03-31T18:00:00Z')));
    expect(states).toHaveLength(88);
    expect(new Set(states)).toEqual(new Set(['unknown']));
    expect(historyBars(historyOf([], NOW, NOW)).text).toContain('No incident was reported today.');
  });
});
