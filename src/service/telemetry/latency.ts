// Latency of the latest requests, for the health report. Prometheus keeps latency over time.

import { must } from '../../shared/must.ts';

const MAX_TIMES = 500;

export interface Latency {
  readonly median: number;
  readonly p99: number;
  /** The number of requests that the figures cover. */
  readonly requests: number;
}

export class LatestTimes {
  readonly #times: number[] = [];
  #next = 0;

  add(milliseconds: number): void {
    this.#times[this.#next] = milliseconds;
    this.#next = (this.#next + 1) % MAX_TIMES;
  }

  /** Undefined before the first request. */
  get latency(): Latency | undefined {
    const sorted = this.#times.toSorted((a, b) => a - b);
    if (sorted.length === 0) return undefined;
    const at = (share: number): number =>
      Math.round(must(sorted[Math.floor((sorted.length - 1) * share)], 'a percentile'));
    return { median: at(0.5), p99: at(0.99), requests: sorted.length };
  }
}
