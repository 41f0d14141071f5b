/** Milliseconds per step, in the order the steps started. Steps can overlap. */
export type Timings = Readonly<Record<string, number>>;

/** Runs steps and measures how long each takes. */
export class Stopwatch {
  readonly #timings: Record<string, number> = {};

  async step<Result>(name: string, work: () => Result | Promise<Result>): Promise<Result> {
    const start = performance.now();
    this.#timings[name] = 0;
    try {
      return await work();
    } finally {
      this.#timings[name] = performance.now() - start;
    }
  }

  get timings(): Timings {
    return { ...this.#timings };
  }
}
