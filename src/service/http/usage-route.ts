// GET /v1/usage: plan, credits and limits of the caller's account, and its renders per day and key.

import type { ResponseOf } from '../api/response-schemas.ts';
import { DAY } from '../api/schema-parts.ts';
import { remaining } from '../account/credits.ts';
import { AppError, type FieldFault } from '../../shared/errors.ts';
import type { Store } from '../store/store.ts';
import type { Call, KeyRoutes } from './key-routes.ts';
import { describeOperations, json, query } from './operation.ts';
import type { RouteGroup } from './route-group.ts';

type UsageStore = Pick<Store, 'ledger' | 'usage' | 'keys'>;

const DAY_MS = 86_400_000;
const MAX_DAYS = 366;

interface DayRange {
  readonly from: string;
  readonly to: string;
}

export const USAGE_OPERATIONS = describeOperations(
  { tag: 'Account' },
  {
    getUsage: {
      route: 'GET /v1/usage',
      summary: 'Plan, credits and usage of the account',
      description: 'Returns the plan, what is left of it, and renders per day and key. Free.',
      parameters: [
        query('from', 'First day (UTC). Default: the start of the period.', DAY),
        query('to', 'Last day (UTC), at most a year later. Default: today.', DAY),
      ],
      success: { 200: json('The usage.', 'Usage') },
    },
  },
);

export function usageRoutes(keyRoutes: KeyRoutes, store: UsageStore): RouteGroup {
  return keyRoutes(USAGE_OPERATIONS, { getUsage: async (call) => await usageOf(store, call) });
}

async function usageOf({ ledger, usage, keys }: UsageStore, { caller, request }: Call): Promise<ResponseOf<'Usage'>> {
  const { accountId, keyId, plan, subscription } = caller;
  const { period, renews } = subscription;
  const range = parseRange(request.query, period.startsAt);
  // A key for web pages can be read by every visitor, so it doesn't show the usage of other keys.
  const key = keyId === undefined ? undefined : await keys.get(keyId);
  const ownKey = key !== undefined && key.allowedOrigins.length > 0 ? keyId : undefined;
  const balance = await ledger.balance(accountId, period, plan.credits);
  const days = ownKey === undefined ? await usage.days(accountId, range.from, range.to) : [];
  const keyDays = await usage.keyDays(accountId, range.from, range.to);
  return {
    plan: {
      name: plan.name,
      title: plan.title,
      credits: plan.credits,
      requests_per_minute: plan.requestsPerMinute,
      concurrent_renders: plan.concurrentRenders,
      limits: snakeCase(plan.limits),
    },
    period: { starts_at: period.startsAt.toISOString(), ends_at: period.endsAt.toISOString(), renews },
    credits: { limit: balance.limit, used: balance.used, reserved: balance.reserved, remaining: remaining(balance) },
    ...range,
    days,
    keys: keyDays
      .filter((day) => ownKey === undefined || day.keyId === ownKey)
      .map(({ keyId: key_id, ...day }) => ({ key_id, ...day })),
  };
}

function parseRange(sent: unknown, periodStart: Date): DayRange {
  const values = (sent ?? {}) as Readonly<Record<string, unknown>>;
  const faults: FieldFault[] = [];
  const from = parseDay('from', values['from'], periodStart, faults);
  const to = parseDay('to', values['to'], new Date(), faults);
  const days = (Date.parse(to) - Date.parse(from)) / DAY_MS;
  if (faults.length === 0 && (days < 0 || days >= MAX_DAYS)) {
    const detail = `from must not be after to, and the range can have at most ${MAX_DAYS} days.`;
    faults.push({ pointer: '#/from', code: 'out_of_range', detail });
  }
  const [first] = faults;
  if (first) throw new AppError('invalid_fields', first.detail, { faults });
  return { from, to };
}

function parseDay(name: string, value: unknown, fallback: Date, faults: FieldFault[]): string {
  if (value === undefined || value === '') return fallback.toISOString().slice(0, 10);
  const isDay = typeof value === 'string' && /^\d{4}-\d{2}-\d{2}$/u.test(value) && isRealDay(value);
  if (isDay) return value;
  faults.push({ pointer: `#/${name}`, code: 'wrong_type', detail: `${name} must be a day such as 2026-03-31.` });
  return fallback.toISOString().slice(0, 10);
}

/** Returns false for February 30, which `Date` would turn into March 2. */
function isRealDay(text: string): boolean {
  const date = new Date(`${text}T00:00:00Z`);
  return !Number.isNaN(date.getTime()) && date.toISOString().startsWith(text);
}

function snakeCase<Name extends string>(values: Readonly<Record<Name, number>>): Record<string, number> {
  return Object.fromEntries(
    Object.entries<number>(values).map(([name, value]) => [
      name.replaceAll(/[A-Z]/gu, (letter) => `_${letter.toLowerCase()}`),
      value,
    ]),
  );
}
