// Creates metrics whose names begin with `storybar_`. Names follow Prometheus: base units, `_total` for counters.

import { Counter, collectDefaultMetrics, Gauge, Histogram, Registry } from 'prom-client';

/** The last bucket is the default deadline of a video, the longest a request can wait. */
const BUCKETS_SECONDS = [0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 120, 300];

/** Gauges of the library with the suffix of a counter. The same figures exist by type, under names without the suffix. */
const MISNAMED = ['nodejs_active_handles_total', 'nodejs_active_requests_total', 'nodejs_active_resources_total'];

export class MetricsRegistry {
  readonly #registry = new Registry();

  constructor() {
    collectDefaultMetrics({ register: this.#registry, prefix: 'storybar_' });
    for (const name of MISNAMED) this.#registry.removeSingleMetric(`storybar_${name}`);
  }

  get contentType(): string {
    return this.#registry.contentType;
  }

  async text(): Promise<string> {
    return await this.#registry.metrics();
  }

  counter<Label extends string>(name: string, help: string, labelNames: Label[]): Counter<Label> {
    return new Counter({ name: `storybar_${name}`, help, labelNames, registers: [this.#registry] });
  }

  /** Creates a counter whose values are kept elsewhere and read at every scrape. */
  readCounter<Label extends string>(
    name: string,
    help: string,
    labelNames: Label[],
    read: (set: (labels: Record<Label, string>, total: number) => void) => void,
  ): void {
    const counter: Counter<Label> = new Counter({
      name: `storybar_${name}`,
      help,
      labelNames,
      registers: [this.#registry],
      collect: () => {
        counter.reset();
        read((labels, total) => counter.inc(labels, total));
      },
    });
  }

  histogram<Label extends string>(name: string, help: string, labelNames: Label[]): Histogram<Label> {
    return new Histogram({
      name: `storybar_${name}`,
      help,
      labelNames,
      buckets: BUCKETS_SECONDS,
      registers: [this.#registry],
    });
  }

  gauge<Label extends string>(
    name: string,
    help: string,
    labelNames: Label[],
    read?: (gauge: Gauge<Label>) => void,
  ): Gauge<Label> {
    const gauge: Gauge<Label> = new Gauge({
      name: `storybar_${name}`,
      help,
      labelNames,
      registers: [this.#registry],
      ...(read && { collect: () => read(gauge) }),
    });
    return gauge;
  }
}
