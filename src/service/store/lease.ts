// Each process renews a lease while it lives. When the lease runs out, other servers release what the process held. The
// clocks of all servers must agree to within a few seconds.
// Heartbeats also guard billing periods against a wrong clock, because the database remembers their time. A server
// whose clock is more than 28 days off skips no period and takes none back until its clock has kept the new time for
// ten minutes. By then, the likely explanation is that the service was stopped for a long time and the clock is right.

import { type Engine, first, type SqlSession, insertRow } from './engine.ts';
import { date, textOrNull } from './rows.ts';
import type { Clock } from './audit.ts';

const LEASE_MS = 30_000;

/** True for the process `:owner` whose lease has run out at the time `:at`. A sweep repeats it in every change. */
export const IS_DEAD = 'not exists (select 1 from owners o where o.id = :owner and o.alive_until > :at)';

export class ServerLease {
  /** Identifies this process among all that ever use the database. */
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
    await insertRow(
      this.#engine,
      'owners',
      { id: this.owner, aliveUntil: new Date(now + LEASE_MS).toISOString() },
      `on conflict (id) do update set alive_until = excluded.alive_until`,
    );
    this.#renewedAt = now;
  }
}

/** The shortest period. A smaller clock error can't skip one. */
const MAX_JUMP_MS = 28 * 24 * 3_600_000;
const CONFIRMED_AFTER_MS = 10 * 60_000;
const WRITE_EVERY_MS = 60_000;

/** Returns true while no server has stored a time yet. */
export async function isTrusted(session: SqlSession, now: Date): Promise<boolean> {
  const row = await first(session, 'select trusted_at from trusted_time');
  return row === undefined || isNear(date(row, 'trusted_at'), now);
}

/** Servers may do this at the same time. Whichever time is written last is fine. */
export async function advanceTrustedTime(session: SqlSession, now: Date): Promise<void> {
  const row = await first(session, 'select trusted_at, jumped_at from trusted_time');
  if (row === undefined) return await write(session, now, null);
  const trustedAt = date(row, 'trusted_at');
  const jumpedAt = textOrNull(row, 'jumped_at');
  if (isNear(trustedAt, now)) {
    // Most heartbeats need no write.
    if (jumpedAt !== null || Math.abs(now.getTime() - trustedAt.getTime()) >= WRITE_EVERY_MS)
      await write(session, now, null);
    return;
  }
  const since = jumpedAt === null ? now : new Date(jumpedAt);
  const keptMs = now.getTime() - since.getTime();
  if (keptMs < 0 || !isNear(since, now)) await write(session, trustedAt, now);
  else if (keptMs >= CONFIRMED_AFTER_MS) await write(session, now, null);
  else if (jumpedAt === null) await write(session, trustedAt, since);
}

function isNear(one: Date, other: Date): boolean {
  return Math.abs(one.getTime() - other.getTime()) <= MAX_JUMP_MS;
}

async function write(session: SqlSession, trustedAt: Date, jumpedAt: Date | null): Promise<void> {
  await insertRow(
    session,
    'trusted_time',
    { id: 1, trustedAt, jumpedAt: jumpedAt?.toISOString() ?? null },
    `on conflict (id) do update set trusted_at = excluded.trusted_at, jumped_at = excluded.jumped_at`,
  );
}
