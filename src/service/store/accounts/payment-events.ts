import { deleteInSteps } from '../bounded/steps.ts';
import { type Engine, first, insertRow } from '../engine.ts';
import type { Clock } from '../audit.ts';

/** Events of the payment provider that were applied. */
export class PaymentEvents {
  readonly #engine: Engine;
  readonly #clock: Clock;

  constructor(engine: Engine, clock: Clock) {
    this.#engine = engine;
    this.#clock = clock;
  }

  /**
   * Returns false when this event was applied before. `apply` and the record of the event aren't one transaction, so
   * `apply` must be safe to repeat.
   */
  async once(id: string, type: string, apply: () => Promise<void>): Promise<boolean> {
    if (await first(this.#engine, 'select id from payment_events where id = :id', { id })) return false;
    await apply();
    const row = { id, type, receivedAt: this.#clock() };
    return (await insertRow(this.#engine, 'payment_events', row, 'on conflict (id) do nothing')) === 1;
  }

  /** Deletes the records of events that were received before `at`. */
  async deleteBefore(at: Date): Promise<number> {
    return await deleteInSteps(this.#engine, 'payment_events', ['id'], ['received_at < :at', { at }]);
  }
}
