// The filters of the usage page: a range of days, a key and a type of render. They are part of the URL.

import type { Period } from '../../service/account/period.ts';
import type { KeySummary } from '../../service/store/accounts/keys.ts';
import type { RenderKind, UsageDetail } from '../../service/store/ledger/usage-details.ts';
import { selectField } from '../account/fields.ts';
import { filterForm, filterSelect, keySelect } from '../account/filter-form.ts';
import { dayAfter } from '../account/outcomes.ts';
import { queryOf } from '../account/signed-in-routes.ts';
import { type Html, html } from '../html.ts';
import type { Visit } from '../identity/session-guard.ts';

export interface UsageFilter {
  readonly range: RangeName;
  /** The first and last day, `YYYY-MM-DD` in UTC. */
  readonly from: string;
  readonly to: string;
  readonly days: number;
  /** Undefined means all. */
  readonly keyId: string | undefined;
  readonly kind: RenderKind | undefined;
}

const RANGES = { '7': 'Last 7 days', '30': 'Last 30 days', '90': 'Last 90 days', period: 'Billing period' } as const;
type RangeName = keyof typeof RANGES;
const DEFAULT_RANGE = '30';
const DAY_MS = 24 * 3_600_000;

export const KIND_LABELS: Readonly<Record<RenderKind, string>> = {
  image: 'Image',
  video: 'Video',
  overlay: 'Overlay only',
};

/** Such as `last 30 days`. */
export function rangeLabel({ range }: Pick<UsageFilter, 'range'>): string {
  return RANGES[range].toLowerCase();
}

/** An unknown value counts as none. */
export function usageFilterOf(visit: Pick<Visit, 'request'>, period: Period | undefined, today: Date): UsageFilter {
  const typed = queryOf(visit, 'range') ?? '';
  const isKnown = Object.hasOwn(RANGES, typed) && (typed !== 'period' || period !== undefined);
  const range = isKnown ? (typed as RangeName) : DEFAULT_RANGE;
  const to = dayAfter(today, 0);
  const from = range === 'period' && period ? dayAfter(period.startsAt, 0) : dayAfter(today, 1 - Number(range));
  const kind = queryOf(visit, 'kind') ?? '';
  return {
    range,
    from,
    to,
    days: Math.max(1, Math.round((Date.parse(to) - Date.parse(from)) / DAY_MS) + 1),
    keyId: queryOf(visit, 'key'),
    kind: Object.hasOwn(KIND_LABELS, kind) ? (kind as RenderKind) : undefined,
  };
}

export function matches({ keyId, kind }: UsageFilter, detail: UsageDetail): boolean {
  return (keyId === undefined || detail.keyId === keyId) && (kind === undefined || detail.kind === kind);
}

export function usageQuery({ range, keyId, kind }: UsageFilter): string {
  const values = { range, ...(keyId !== undefined && { key: keyId }), ...(kind !== undefined && { kind }) };
  return new URLSearchParams(values).toString();
}

export function usageFilterForm(
  action: string,
  { range, keyId, kind }: UsageFilter,
  keys: readonly KeySummary[],
  period: Period | undefined,
): Html {
  const ranges = Object.entries(RANGES).filter(([name]) => name !== 'period' || period !== undefined);
  const fields = html`${selectField({ name: 'range', label: 'Range', choices: ranges, chosen: range })}
${keySelect(keys, keyId)}
${filterSelect({ name: 'kind', label: 'Type', choices: Object.entries(KIND_LABELS), chosen: kind })}`;
  return filterForm({ action, fields, button: 'Show' });
}
