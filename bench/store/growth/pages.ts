// What pages and responses read of an account with many rows, as `dashboard/account` and `http/usage-route.ts` do it.

import type { Store } from '../../../src/service/store/store.ts';

const DAY_MS = 24 * 3_600_000;
const PAGE = 51;
const QUIET_PATHS = ['GET /v1/renders/:id', 'GET /v1/batches/:id'];

interface Page {
  readonly name: string;
  readonly read: (store: Store, accountId: string) => Promise<unknown>;
}

function day(daysAgo: number): string {
  return new Date(Date.now() - daysAgo * DAY_MS).toISOString().slice(0, 10);
}

export const PAGES: readonly Page[] = [
  {
    name: 'request log',
    read: async ({ requests }, id) => await requests.list(id, { count: PAGE, quietPaths: QUIET_PATHS }),
  },
  {
    name: 'request log, failed ones',
    read: async ({ requests }, id) => await requests.list(id, { count: PAGE, statuses: [400, 599] }),
  },
  {
    name: 'request log, a filter without a match',
    read: async ({ requests }, id) => await requests.list(id, { count: PAGE, statuses: [500, 599] }),
  },
  {
    name: 'request log of a day, a filter without a match',
    read: async ({ requests }, id) => await requests.list(id, { count: PAGE, statuses: [500, 599], day: day(2) }),
  },
  {
    name: 'request log, CSV',
    read: async ({ requests }, id) => await requests.list(id, { count: 10_000, quietPaths: QUIET_PATHS }),
  },
  {
    name: 'usage page, 30 days',
    read: async ({ usage }, id) => {
      await usage.latest(id, 10);
      await usage.details(id, day(29), day(0));
    },
  },
  {
    name: 'usage page, 90 days',
    read: async ({ usage }, id) => await usage.details(id, day(89), day(0)),
  },
  {
    name: 'GET /v1/usage, 366 days',
    read: async ({ usage }, id) => {
      await usage.days(id, day(365), day(0));
      await usage.keyDays(id, day(365), day(0));
    },
  },
  { name: 'operator: renders per day', read: async ({ operator }) => await operator.days(day(29), day(0)) },
];
