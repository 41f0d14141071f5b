// Groups the outcomes of renders into the four series of the usage chart.

import { BROKEN_CHARGED, BROKEN_FREE } from '../../service/account/broken-delivery.ts';
import { ERRORS } from '../../shared/error-table.ts';
import type { UsageDay } from '../../service/store/ledger/usage-details.ts';

export const SERIES = ['delivered', 'test', 'refused', 'failed'] as const;
export type Series = (typeof SERIES)[number];

export const SERIES_LABELS: Readonly<Record<Series, string>> = {
  delivered: 'Delivered',
  test: 'Test mode',
  refused: 'Rejected (4xx)',
  failed: 'Server error (5xx)',
};

const BROKEN_LABELS: Readonly<Record<string, string>> = {
  [BROKEN_FREE]: 'Download broken (free)',
  [BROKEN_CHARGED]: 'Download broken (charged)',
};

export type DayCounts = { readonly day: string } & Readonly<Record<Series, number>>;

/** Returns one entry per day, including days without renders. */
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

/** Returns the status of an outcome. An unknown outcome counts as a server error. */
function statusOf(outcome: string): number {
  if (Object.hasOwn(BROKEN_LABELS, outcome)) return ERRORS.client_closed.status;
  return Object.hasOwn(ERRORS, outcome) ? ERRORS[outcome as keyof typeof ERRORS].status : 500;
}

/** Returns the title of an error, or an unknown outcome as it is. */
export function outcomeLabel(outcome: string): string {
  if (outcome === 'delivered') return 'Delivered';
  const broken = BROKEN_LABELS[outcome];
  if (broken !== undefined) return broken;
  return Object.hasOwn(ERRORS, outcome) ? ERRORS[outcome as keyof typeof ERRORS].title : outcome;
}
