import { type Engine, first, insertRow, OutcomeUnknown, type SqlSession } from '../engine.ts';
import type { PendingWrites } from '../ledger/pending-writes.ts';
import { integerOrNull, oneOf, text } from '../rows.ts';
import type { Clock } from '../audit.ts';
import type { ServerLease } from '../lease.ts';
import { deleteInSteps } from '../bounded/steps.ts';

export type Claim =
  | { readonly kind: 'new' }
  | { readonly kind: 'in flight' }
  | { readonly kind: 'mismatch' }
  | { readonly kind: 'done'; readonly renderId: string; readonly facts: string }
  /** The same request was accepted as an asynchronous one, or its file is being sent. Its render hasn't ended. */
  | { readonly kind: 'rendering' }
  /** That render has succeeded, or was charged although its file couldn't be delivered. */
  | { readonly kind: 'stored'; readonly renderId: string };

interface Fingerprints {
  readonly fingerprint: string;
  /** The fingerprint of the same request as an asynchronous one. */
  readonly asyncFingerprint?: string;
}

/** A request that asks for a key. */
interface Claimant {
  readonly fingerprint: string;
  readonly renderId: string;
}

type KeyEntry = Readonly<Record<'accountId' | 'key', string>>;

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

  async claim(accountId: string, key: string, fingerprints: Fingerprints, renderId: string): Promise<Claim> {
    await this.#lease.ensure();
    try {
      return await this.#engine.transaction(
        async (session) => await this.#claim(session, { accountId, key }, fingerprints, renderId),
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

  async #claim(session: SqlSession, entry: KeyEntry, fingerprints: Fingerprints, renderId: string): Promise<Claim> {
    const now = this.#clock();
    const { fingerprint } = fingerprints;
    const expiresAt = new Date(now.getTime() + LIFETIME_MS).toISOString();
    await freeUnusedKey(session, entry, { now, self: this.#lease.owner });
    const { accountId, key } = entry;
    const added = await insertRow(
      session,
      'idempotency',
      { accountId, key, fingerprint, renderId, owner: this.#lease.owner, state: 'running', expiresAt },
      'on conflict (account_id, key) do nothing',
    );
    return added === 1 ? { kind: 'new' } : await this.#claimExisting(session, entry, fingerprints, renderId);
  }

  async #claimExisting(
    session: SqlSession,
    entry: KeyEntry,
    { fingerprint, asyncFingerprint }: Fingerprints,
    renderId: string,
  ): Promise<Claim> {
    const row = await first(
      session,
      `select fingerprint, render_id, state, facts from idempotency
       where account_id = :accountId and key = :key`,
      entry,
    );
    // The row was deleted between the two statements, because its render has just failed.
    if (row === undefined) return { kind: 'in flight' };
    const known = text(row, 'fingerprint');
    if (known === asyncFingerprint) {
      return await this.#claimAccepted(session, entry, text(row, 'render_id'), { fingerprint, renderId });
    }
    if (known !== fingerprint) return { kind: 'mismatch' };
    if (oneOf(row, 'state', ['running', 'done']) === 'running') return { kind: 'in flight' };
    const done = { kind: 'done', renderId: text(row, 'render_id'), facts: text(row, 'facts') } as const;
    // Only a render whose file is sent to a URL has its key before its end.
    const ended = await this.#claimStored(session, entry, done.renderId, { fingerprint, renderId });
    return ended === undefined || ended.kind === 'stored' ? done : ended;
  }

  /** An asynchronous request has the key. When its render is deleted, this request takes the key over, too. */
  async #claimAccepted(session: SqlSession, entry: KeyEntry, acceptedId: string, claimant: Claimant): Promise<Claim> {
    const claim = await this.#claimStored(session, entry, acceptedId, claimant);
    return claim ?? (await this.#takeOver(session, entry, acceptedId, claimant));
  }

  /**
   * A stored render has the key. When it ended without a result and without a charge, this request takes the key over. Undefined
   * without such a render.
   */
  async #claimStored(
    session: SqlSession,
    entry: KeyEntry,
    storedId: string,
    claimant: Claimant,
  ): Promise<Claim | undefined> {
    const render = await first(session, 'select status, credits from renders where id = :storedId', { storedId });
    if (render === undefined) return undefined;
    const status = text(render, 'status');
    if (status === 'queued' || status === 'rendering') return { kind: 'rendering' };
    const isCharged = (integerOrNull(render, 'credits') ?? 0) > 0;
    if (status === 'succeeded' || isCharged) return { kind: 'stored', renderId: storedId };
    return await this.#takeOver(session, entry, storedId, claimant);
  }

  async #takeOver(
    session: SqlSession,
    entry: KeyEntry,
    acceptedId: string,
    { fingerprint, renderId }: Claimant,
  ): Promise<Claim> {
    const taken = await session.run(
      `update idempotency set fingerprint = :fingerprint, render_id = :renderId, owner = :self, state = 'running'
       where account_id = :accountId and key = :key and render_id = :acceptedId`,
      { ...entry, fingerprint, renderId, self: this.#lease.owner, acceptedId },
    );
    if (taken !== 1) return { kind: 'in flight' };
    await session.run('update renders set idempotency_key = null where id = :acceptedId', { acceptedId });
    return { kind: 'new' };
  }

  async #delete(accountId: string, key: string, renderId: string): Promise<void> {
    await this.#engine.run(
      "delete from idempotency where account_id = :accountId and key = :key and render_id = :renderId and state = 'running'",
      { accountId, key, renderId },
    );
  }
}

/** Deletes a key that has expired, or whose request ran on a server that is dead. `self` is this server. */
export async function freeUnusedKey(
  session: SqlSession,
  entry: KeyEntry,
  { now, self }: { readonly now: Date; readonly self: string },
): Promise<void> {
  await session.run(
    `delete from idempotency where account_id = :accountId and key = :key and (expires_at <= :now or (
       state = 'running' and owner <> :self
       and not exists (select 1 from owners o where o.id = idempotency.owner and o.alive_until > :now)))`,
    { ...entry, now, self },
  );
}
