// Tasks that a running server repeats. Each is independent: one that fails is logged and runs again at its next interval.

import type { Logger } from '../telemetry/logger.ts';

export class PeriodicTasks {
  readonly #logger: Logger;
  readonly #timers: NodeJS.Timeout[] = [];

  constructor(logger: Logger) {
    this.#logger = logger;
  }

  every(milliseconds: number, task: string, work: () => Promise<void>): void {
    let running = false;
    const timer = setInterval(() => {
      if (running) return;
      running = true;
      void this.once(task, work).finally(() => {
        running = false;
      });
    }, milliseconds);
    this.#timers.push(timer.unref());
  }

  /** Never rejects. */
  async once(task: string, work: () => Promise<void>): Promise<void> {
    await work().catch((error: unknown) => this.#logger.warn({ err: error, task }, 'housekeeping task failed'));
  }

  stop(): void {
    for (const timer of this.#timers) clearInterval(timer);
  }
}
