// Tasks that a running server repeats. Each is independent: one that fails is logged and runs again at its next interval.

import type { DependencyMetrics } from '../service/telemetry/dependency-metrics.ts';
import type { Logger } from '../service/telemetry/logger.ts';

type TaskMetrics = Pick<DependencyMetrics, 'taskStarted' | 'taskEnded'>;

export class PeriodicTasks {
  readonly #logger: Logger;
  readonly #metrics: TaskMetrics;
  readonly #timers: NodeJS.Timeout[] = [];

  constructor(logger: Logger, metrics: TaskMetrics) {
    this.#logger = logger;
    this.#metrics = metrics;
  }

  every(milliseconds: number, task: string, work: () => Promise<void>): void {
    this.#metrics.taskStarted(task);
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
    try {
      await work();
      this.#metrics.taskEnded(task, true);
    } catch (error) {
      this.#metrics.taskEnded(task, false);
      this.#logger.warn({ err: error, task }, 'housekeeping task failed');
    }
  }

  stop(): void {
    for (const timer of this.#timers) clearInterval(timer);
  }
}
