import { type Engine, first, insertRow, OutcomeUnknown, type SqlSession } from '../engine.ts';
import type { PendingWrites } from '../ledger/pending-writes.ts';
import { oneOf, text, textOrNull } from '../rows.ts';
import type { Clock } from '../audit.ts';
import type { ServerLease } from '../lease.ts';
import { deleteInSteps } from '../bounded/steps.ts';

export type Claim =
  | { readonly kind: 'new' }
  | { readonly kind: 'in flight' }
  | { readonly kind: 'mismatch' }
  | { readonly kind: 'done'; readonly renderId: string; readonly facts: string };

const LIFETIME_MS = 24 * 3_600_000;

export class Idempotency {
  readonly #engine: Engine;
  readonly #clock: Clock;
  readonly #lease: ServerLease;
  readonly #pendingWrites: PendingWrites;

  constructor(engine: Engine, clock: Clock, lease: ServerLease, pendingWrites: PendingWrites) {
    this.#engine = engine;
    this.#clock = clock;
    this.#lease = lease;
    this.#pendingWrites = pendingWrites;
  }

  async claim(accountId: string, key: string, fingerprint: string, renderId: string): Promise<Claim> {
    await this.#lease.ensure();
    try {
      return await this.#engine.transaction(
        async (session) => await this.#claim(session, { accountId, key }, fingerprint, renderId),
      );
    } catch (error) {
      // The caller doesn't render, so a claim that was committed after all must be given back.
      if (error instanceof OutcomeUnknown) {
        const write = { kind: 'abandon', renderId } as const;
        this.#pendingWrites.add(write, async () => await this.#delete(accountId, key, renderId));
      }
      throw error;
    }
  }

  /** Frees the key of a failed render. Never rejects; a failed attempt becomes a pending write. */
  async abandon(accountId: string, key: string, renderId: string): Promise<void> {
    const write = { kind: 'abandon', renderId } as const;
    // The request has failed already, and its own error is the one to report.
    await this.#pendingWrites
      .run(write, async () => await this.#delete(accountId, key, renderId))
      .catch(() => undefined);
  }

  async removeExpired(): Promise<void> {
    const now = this.#clock().toISOString();
    await deleteInSteps(this.#engine, 'idempotency', ['account_id', 'key'], ['expires_at <= :now', { now }]);
  }

  async #claim(
    session: SqlSession,
    entry: { readonly accountId: string; readonly key: string },
    fingerprint: string,
    renderId: string,
  ): Promise<Claim> {
    const now = this.#clock();
    const expiresAt = new Date(now.getTime() + LIFETIME_MS).toISOString();
    await session.run('delete from idempotency where account_id = :accountId and key = :key and expires_at <= :now', {
      ...entry,
      now,
    });
    const { accountId, key } = entry;
    const added = await insertRow(
      session,
      'idempotency',
      { accountId, key, fingerprint, renderId, owner: this.#lease.owner, state: 'running', expiresAt },
      'on conflict (account_id, key) do nothing',
    );
    return added === 1 ? { kind: 'new' } : await this.#claimExisting(session, entry, fingerprint, renderId);
  }

  async #claimExisting(
    session: SqlSession,
    entry: { readonly accountId: string; readonly key: string },
    fingerprint: string,
    renderId: string,
  ): Promise<Claim> {
    const row = await first(
      session,
      `select i.fingerprint, i.render_id, i.owner, i.state, i.facts, o.alive_until
       from idempotency i left join owners o on o.id = i.owner where i.account_id = :accountId and i.key = :key`,
      entry,
    );
    // The row was deleted between the two statements, because its render has just failed.
    if (row === undefined) return { kind: 'in flight' };
    if (text(row, 'fingerprint') !== fingerprint) return { kind: 'mismatch' };
    if (oneOf(row, 'state', ['running', 'done']) === 'done') {
      return { kind: 'done', renderId: text(row, 'render_id'), facts: text(row, 'facts') };
    }
    const owner = text(row, 'owner');
    const aliveUntil = textOrNull(row, 'alive_until');
    const isAlive = aliveUntil !== null && aliveUntil > this.#clock().toISOString();
    if (owner === this.#lease.owner || isAlive) return { kind: 'in flight' };
    // The server that had the key is dead. The first request that arrives takes it over.
    const taken = await session.run(
      `update idempotency set render_id = :renderId, owner = :self
       where account_id = :accountId and key = :key and owner = :owner and state = 'running'`,
      { ...entry, renderId, self: this.#lease.owner, owner },
    );
    return { kind: taken === 1 ? 'new' : 'in flight' };
  }

  async #delete(accountId: string, key: string, renderId: string): Promise<void> {
    await this.#engine.run(
      "delete from idempotency where account_id = :accountId and key = :key and render_id = :renderId and state = 'running'",
      { accountId, key, renderId },
    );
  }
}
