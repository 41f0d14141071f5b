// Each process renews a lease while it lives. When the lease runs out, other servers release what the process held. The
// clocks of all servers must agree to within a few seconds.

import type { Engine } from './engine.ts';
import type { Clock } from './sql-audit.ts';

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

  /** Renews the lease unless it was renewed recently. Needed before this process holds anything. */
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
