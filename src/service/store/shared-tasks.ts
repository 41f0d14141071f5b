// Periodic tasks that one server does for all. A server claims a task when it is due, with a lease, and the others leave it out.

import type { Clock } from './audit.ts';
import { type Engine, first, insertRow } from './engine.ts';
import { textOrNull } from './rows.ts';

/** After this part of the interval a task is due again, because timers of servers don't fire at exactly the same time. */
const DUE_SHARE = 0.9;

export class SharedTasks {
  readonly #engine: Engine;
  readonly #clock: Clock;
  readonly #owner: string;

  constructor(engine: Engine, clock: Clock, owner: string) {
    this.#engine = engine;
    this.#clock = clock;
    this.#owner = owner;
  }

  /**
   * Runs the task unless another server runs it or did so in this interval. `work` gets the time of the last success. After an
   * error, which is rethrown, any server may run it. A server that dies keeps its lease for one interval.
   */
  async run(name: string, everyMs: number, work: (since: Date | undefined) => Promise<void>): Promise<boolean> {
    const startedAt = this.#clock();
    const claim = await this.#claim(name, everyMs, startedAt);
    if (claim === undefined) return false;
    try {
      await work(claim.since);
    } catch (error) {
      await this.#end(name, undefined);
      throw error;
    }
    // What happened during the task is for the next one.
    await this.#end(name, startedAt);
    return true;
  }

  async #claim(name: string, everyMs: number, now: Date): Promise<{ readonly since: Date | undefined } | undefined> {
    await insertRow(this.#engine, 'shared_tasks', { name }, 'on conflict (name) do nothing');
    const at = (ms: number): string => new Date(now.getTime() + ms).toISOString();
    // Clocks of servers differ a little. Times that are more than an interval ahead of that were written by a clock that was wrong.
    const row = await first(
      this.#engine,
      `update shared_tasks set owner = :owner, leased_until = :until where name = :name
         and (leased_until is null or leased_until <= :now or leased_until > :wrongLease)
         and (done_at is null or done_at <= :due or done_at > :until) returning done_at`,
      { name, owner: this.#owner, now, until: at(everyMs), wrongLease: at(2 * everyMs), due: at(-everyMs * DUE_SHARE) },
    );
    if (row === undefined) return undefined;
    const doneAt = textOrNull(row, 'done_at');
    return { since: doneAt === null || doneAt > now.toISOString() ? undefined : new Date(doneAt) };
  }

  async #end(name: string, doneAt: Date | undefined): Promise<void> {
    await this.#engine.run(
      `update shared_tasks set leased_until = null${doneAt === undefined ? '' : ', done_at = :doneAt'}
       where name = :name and owner = :owner`,
      { name, owner: this.#owner, ...(doneAt !== undefined && { doneAt }) },
    );
  }
}
