// Reports to the API server how much of a step is done, one request after the other. A report that fails is no reason
// to stop, because the control stream ends, too, when the API server is gone.

export class ProgressReports {
  readonly #send: (fraction: number) => Promise<void>;
  #next: number | undefined;
  #sending: Promise<void> | undefined;

  constructor(send: (fraction: number) => Promise<void>) {
    this.#send = send;
  }

  /** While a report is on its way, only the newest one waits. */
  report(fraction: number): void {
    this.#next = fraction;
    this.#sending ??= this.#sendAll();
  }

  /** Resolves when no report is on its way, because it would count for the next step. */
  async end(): Promise<void> {
    this.#next = undefined;
    await this.#sending;
  }

  async #sendAll(): Promise<void> {
    for (let fraction = this.#next; fraction !== undefined; fraction = this.#next) {
      this.#next = undefined;
      await this.#send(fraction).catch(() => undefined);
    }
    this.#sending = undefined;
  }
}
