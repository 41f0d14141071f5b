import { setImmediate as yieldToEventLoop } from 'node:timers/promises';
import { type Engine, first, OutcomeUnknown, type SqlSession } from './engine.ts';
import type { RetryQueue } from './pending-writes.ts';
import type { Clock } from './sql-audit.ts';
import type { Lease } from './sql-lease.ts';
import type { Claim, Idempotency } from './store.ts';

const KEPT_MS = 24 * 3_600_000;
const BATCH = 500;

interface Row {
  readonly fingerprint: string;
  readonly renderId: string;
  readonly owner: string;
  readonly state: 'running' | 'done';
  readonly facts: string | null;
  readonly aliveUntil: string | null;
}

export class SqlIdempotency implements Idempotency {
  readonly #engine: Engine;
  readonly #clock: Clock;
  readonly #lease: Lease;
  readonly #pendingWrites: RetryQueue;

  constructor(engine: Engine, clock: Clock, lease: Lease, pendingWrites: RetryQueue) {
    this.#engine = engine;
    this.#clock = clock;
    this.#lease = lease;
    this.#pendingWrites = pendingWrites;
  }

  async claim(accountId: string, key: string, fingerprint: string, renderId: string): Promise<Claim> {
    await this.#lease.ensure();
    try {
      return await this.#tryClaim(accountId, key, fingerprint, renderId);
    } catch (error) {
      // The caller does not render, so a claim that was committed after all must be given back.
      if (error instanceof OutcomeUnknown) {
        this.#pendingWrites.add(
          { kind: 'abandon', renderId },
          async () => await this.#delete(accountId, key, renderId),
        );
      }
      throw error;
    }
  }

  async abandon(accountId: string, key: string, renderId: string): Promise<void> {
    const write = { kind: 'abandon', renderId } as const;
    // The request has failed already, and its own error is the one to report.
    await this.#pendingWrites
      .run(write, async () => await this.#delete(accountId, key, renderId))
      .catch(() => undefined);
  }

  async removeExpired(): Promise<void> {
    const now = this.#clock().toISOString();
    for (let removed = BATCH; removed === BATCH; await yieldToEventLoop()) {
      removed = await this.#engine.run(
        `delete from idempotency
         where (account_id, key) in (select account_id, key from idempotency where expires_at <= ? limit ?)`,
        [now, BATCH],
      );
    }
  }

  async #tryClaim(accountId: string, key: string, fingerprint: string, renderId: string): Promise<Claim> {
    const now = this.#clock();
    const expiresAt = new Date(now.getTime() + KEPT_MS).toISOString();
    return await this.#engine.transaction(async (session) => {
      await session.run('delete from idempotency where account_id = ? and key = ? and expires_at <= ?', [
        accountId,
        key,
        now.toISOString(),
      ]);
      const added = await session.run(
        `insert into idempotency (account_id, key, fingerprint, render_id, owner, state, expires_at)
         values (?, ?, ?, ?, ?, 'running', ?) on conflict (account_id, key) do nothing`,
        [accountId, key, fingerprint, renderId, this.#lease.owner, expiresAt],
      );
      return added === 1 ? { kind: 'new' } : await this.#judge(session, [accountId, key], fingerprint, renderId);
    });
  }

  async #delete(accountId: string, key: string, renderId: string): Promise<void> {
    await this.#engine.run(
      "delete from idempotency where account_id = ? and key = ? and render_id = ? and state = 'running'",
      [accountId, key, renderId],
    );
  }

  async #judge(
    session: SqlSession,
    place: readonly [string, string],
    fingerprint: string,
    renderId: string,
  ): Promise<Claim> {
    const row = await first<Row>(
      session,
      `select i.fingerprint, i.render_id as "renderId", i.owner, i.state, i.facts, o.alive_until as "aliveUntil"
       from idempotency i left join owners o on o.id = i.owner where i.account_id = ? and i.key = ?`,
      place,
    );
    // Gone between two statements: its render has just come to nothing.
    if (row === undefined) return { kind: 'in flight' };
    if (row.fingerprint !== fingerprint) return { kind: 'mismatch' };
    if (row.state === 'done') return { kind: 'done', renderId: row.renderId, facts: row.facts ?? '{}' };
    const alive = row.owner === this.#lease.owner || (row.aliveUntil ?? '') > this.#clock().toISOString();
    if (alive) return { kind: 'in flight' };
    // The server that had it is dead: whoever asks first takes it over.
    const taken = await session.run(
      "update idempotency set render_id = ?, owner = ? where account_id = ? and key = ? and owner = ? and state = 'running'",
      [renderId, this.#lease.owner, ...place, row.owner],
    );
    return { kind: taken === 1 ? 'new' : 'in flight' };
  }
}
