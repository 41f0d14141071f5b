// Authenticator apps and recovery codes. Recovery codes arrive as hashes. The secret of an app is encrypted and not hashed,
// because codes are computed from it.

import { must } from '../../../shared/must.ts';
import { type Actor, type Clock, recordAudit } from '../audit.ts';
import { type Engine, first, type SqlSession, insertRow } from '../engine.ts';
import { date, integer, text } from '../rows.ts';
import type { SecretBox, SecretPlace } from '../secret-box.ts';

export interface NewAuthenticator {
  readonly userId: string;
  /** The secret in Base32. */
  readonly secret: string;
  /** The time step of the code with which the user proved possession of the app. */
  readonly step: number;
  readonly recoveryHashes: readonly string[];
}

export interface AuthenticatorState {
  readonly secret: string;
  readonly createdAt: Date;
  readonly recoveryCodes: number;
}

export class SecondFactors {
  readonly #engine: Engine;
  readonly #clock: Clock;
  readonly #box: SecretBox;

  constructor(engine: Engine, clock: Clock, box: SecretBox) {
    this.#engine = engine;
    this.#clock = clock;
    this.#box = box;
  }

  /** Returns undefined when the user signs in with the password alone. */
  async find(userId: string): Promise<AuthenticatorState | undefined> {
    const row = await first(
      this.#engine,
      `select secret, created_at, (select count(*) from recovery_codes c where c.user_id = a.user_id) as codes
       from authenticators a where user_id = :userId`,
      { userId },
    );
    if (row === undefined) return undefined;
    const secret = this.#box.open(placeOf(userId), text(row, 'secret'));
    return { secret, createdAt: date(row, 'created_at'), recoveryCodes: integer(row, 'codes') };
  }

  /** Returns false when the user has one already. */
  async add({ userId, secret, step, recoveryHashes }: NewAuthenticator): Promise<boolean> {
    return await this.#engine.transaction(async (session) => {
      const added = await insertRow(
        session,
        'authenticators',
        { userId, secret: this.#box.seal(placeOf(userId), secret), lastStep: step, createdAt: this.#clock() },
        `on conflict (user_id) do nothing`,
      );
      if (added === 0) return false;
      await setRecoveryCodes(session, userId, recoveryHashes);
      await this.#record(session, userId, `user:${userId}`, 'user.two_factor_on');
      return true;
    });
  }

  /**
   * Returns true once per time step, and never for a step before the last one used, so an observed code can't be
   * replayed.
   */
  async useStep(userId: string, step: number): Promise<boolean> {
    const update = 'update authenticators set last_step = :step where user_id = :userId and last_step < :step';
    return (await this.#engine.run(update, { step, userId })) === 1;
  }

  /** Returns true once per code. */
  async useRecoveryCode(userId: string, hash: string): Promise<boolean> {
    return await this.#engine.transaction(async (session) => {
      const used = await session.run('delete from recovery_codes where user_id = :userId and hash = :hash', {
        userId,
        hash,
      });
      if (used === 1) await this.#record(session, userId, `user:${userId}`, 'user.recovery_code_used');
      return used === 1;
    });
  }

  /** Replaces all recovery codes. Returns false without an authenticator. */
  async replaceRecoveryCodes(userId: string, hashes: readonly string[]): Promise<boolean> {
    return await this.#engine.transaction(async (session) => {
      // This locks the row, so that two requests can't both add their codes.
      const found = await session.run('update authenticators set secret = secret where user_id = :userId', { userId });
      if (found === 0) return false;
      await setRecoveryCodes(session, userId, hashes);
      await this.#record(session, userId, `user:${userId}`, 'user.recovery_codes_replaced');
      return true;
    });
  }

  /** Removes the authenticator and the recovery codes. Returns false when there is none. */
  async remove(userId: string, actor: Actor): Promise<boolean> {
    return await this.#engine.transaction(async (session) => {
      const removed = await session.run('delete from authenticators where user_id = :userId', { userId });
      await session.run('delete from recovery_codes where user_id = :userId', { userId });
      if (removed === 1) await this.#record(session, userId, actor, 'user.two_factor_off');
      return removed === 1;
    });
  }

  async #record(session: SqlSession, userId: string, actor: Actor, action: string): Promise<void> {
    const user = must(await first(session, 'select account_id from users where id = :userId', { userId }), 'the user');
    const entry = { actor, action, accountId: text(user, 'account_id'), subject: userId };
    await recordAudit(session, this.#clock().toISOString(), entry);
  }
}

function placeOf(userId: string): SecretPlace {
  return { table: 'authenticators', column: 'secret', row: userId };
}

async function setRecoveryCodes(session: SqlSession, userId: string, hashes: readonly string[]): Promise<void> {
  await session.run('delete from recovery_codes where user_id = :userId', { userId });
  for (const hash of hashes) {
    await insertRow(session, 'recovery_codes', { userId, hash });
  }
}
