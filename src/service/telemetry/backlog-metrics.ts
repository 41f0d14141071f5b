// Asynchronous work that waits in the database. Every API server reports the same values, so the names begin with `fleet_`.

import type { MetricsRegistry } from './metrics-registry.ts';

const LANES = ['image', 'video', 'fetch', 'put'] as const;

interface LaneReading {
  readonly waiting: number;
  readonly claimed: number;
  readonly oldestSeconds: number;
}

/** `fetch` is the lane of renders whose asset has yet to be fetched, `put` that of files that are sent to a `put_url`. */
export interface BacklogFigures {
  readonly renders: Readonly<Record<(typeof LANES)[number], LaneReading>>;
  readonly webhooks: { readonly waiting: number; readonly oldestSeconds: number };
}

const NOTE = 'Every API server reports the same value: aggregate with max, not sum.';

/** `read` returns undefined while the database is unavailable. Then the metrics have no value instead of a wrong one. */
export function watchBacklog(registry: MetricsRegistry, read: () => BacklogFigures | undefined): void {
  registry.gauge(
    'fleet_async_renders',
    `Accepted renders that have not ended: not claimed yet (waiting) or claimed by a server. ${NOTE}`,
    ['lane', 'state'],
    (gauge) => {
      gauge.reset();
      const figures = read();
      for (const lane of figures ? LANES : []) {
        const { waiting, claimed } = (figures as BacklogFigures).renders[lane];
        gauge.set({ lane, state: 'waiting' }, waiting);
        gauge.set({ lane, state: 'claimed' }, claimed);
      }
    },
  );
  registry.gauge(
    'fleet_async_oldest_seconds',
    `Age of the oldest accepted render that has not ended. ${NOTE}`,
    ['lane'],
    (gauge) => {
      gauge.reset();
      const figures = read();
      for (const lane of figures ? LANES : [])
        gauge.set({ lane }, (figures as BacklogFigures).renders[lane].oldestSeconds);
    },
  );
  registry.gauge('fleet_webhooks_late', `Webhooks that should have been sent by now. ${NOTE}`, [], (gauge) => {
    gauge.reset();
    const figures = read();
    if (figures) gauge.set(figures.webhooks.waiting);
    else gauge.remove();
  });
  registry.gauge('fleet_webhooks_oldest_seconds', `How late the latest webhook is. ${NOTE}`, [], (gauge) => {
    gauge.reset();
    const figures = read();
    if (figures) gauge.set(figures.webhooks.oldestSeconds);
    else gauge.remove();
  });
}
