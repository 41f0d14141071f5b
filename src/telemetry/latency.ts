// How long the latest requests took, for people who look now; figures over time are Prometheus's business.

const KEPT = 500;

export interface Latency {
  readonly median: number;
  readonly p99: number;
  /** Of how many. */
  readonly requests: number;
}

export class LatestTimes {
  readonly #times: number[] = [];
  #next = 0;

  add(milliseconds: number): void {
    this.#times[this.#next] = milliseconds;
    this.#next = (this.#next + 1) % KEPT;
  }

  /** Undefined before the first. */
  get latency(): Latency | undefined {
    const sorted = this.#times.toSorted((a, b) => a - b);
    if (sorted.length === 0) return undefined;
    const at = (share: number): number => Math.round(sorted[Math.floor((sorted.length - 1) * share)] ?? 0);
    return { median: at(0.5), p99: at(0.99), requests: sorted.length };
  }
}
