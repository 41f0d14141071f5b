// How renders ended, in four kinds people care about.

import { PROBLEMS } from '../../http/reference/statuses.ts';
import type { UsageDay } from '../../store/store.ts';

export const SERIES = ['delivered', 'test', 'refused', 'failed'] as const;
export type Series = (typeof SERIES)[number];

export const SERIES_LABELS: Readonly<Record<Series, string>> = {
  delivered: 'Delivered',
  test: 'Delivered, test key',
  refused: 'Refused',
  failed: 'Failed on our side',
};

export type DayCounts = { readonly day: string } & Readonly<Record<Series, number>>;

/** One entry for each day, also for days without a render. */
export function countDays(rows: readonly UsageDay[], from: Date, days: number): DayCounts[] {
  return Array.from({ length: days }, (_, index) => {
    const day = dayAfter(from, index);
    const counts = { delivered: 0, test: 0, refused: 0, failed: 0 };
    for (const row of rows) if (row.day === day) counts[seriesOf(row)] += row.renders;
    return { day, ...counts };
  });
}

export function dayAfter(from: Date, days: number): string {
  return new Date(Date.UTC(from.getUTCFullYear(), from.getUTCMonth(), from.getUTCDate() + days))
    .toISOString()
    .slice(0, 10);
}

function seriesOf({ outcome, mode }: Pick<UsageDay, 'outcome' | 'mode'>): Series {
  if (outcome === 'delivered') return mode === 'test' ? 'test' : 'delivered';
  return statusOf(outcome) >= 500 ? 'failed' : 'refused';
}

function statusOf(outcome: string): number {
  return Object.hasOwn(PROBLEMS, outcome) ? PROBLEMS[outcome as keyof typeof PROBLEMS].status : 500;
}

/** As people read it; the code stays visible for those who look for it in the documentation. */
export function outcomeLabel(outcome: string): string {
  if (outcome === 'delivered') return 'Delivered';
  return Object.hasOwn(PROBLEMS, outcome) ? PROBLEMS[outcome as keyof typeof PROBLEMS].title : outcome;
}
