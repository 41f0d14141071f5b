// A process says from time to time that it lives. What it holds is given back by others when it has not done so for a while;
// the clocks of all servers must agree to within some seconds.

import type { Engine } from './engine.ts';
import type { Clock } from './sql-audit.ts';

/** How long a process counts as alive after its last word. */
const LEASE_MS = 30_000;

export class Lease {
  /** Names this process, among all that ever use the database. */
  readonly owner: string;
  readonly #engine: Engine;
  readonly #clock: Clock;
  #renewedAt = Number.NEGATIVE_INFINITY;

  constructor(engine: Engine, clock: Clock, owner: string) {
    this.#engine = engine;
    this.#clock = clock;
    this.owner = owner;
  }

  /** Before this process holds anything: nobody may take it for dead from the start. */
  async ensure(): Promise<void> {
    if (Math.abs(this.#clock().getTime() - this.#renewedAt) > LEASE_MS / 2) await this.renew();
  }

  async renew(): Promise<void> {
    const now = this.#clock().getTime();
    await this.#engine.run(
      'insert into owners (id, alive_until) values (?, ?) on conflict (id) do update set alive_until = excluded.alive_until',
      [this.owner, new Date(now + LEASE_MS).toISOString()],
    );
    this.#renewedAt = now;
  }
}
