// Password hashing. It is slow and takes much memory on purpose, so only a few hashes are computed at the same time and
// further attempts are rejected. Sign-ins can therefore exhaust neither the CPU nor the memory.

import { hash, verify } from '@node-rs/argon2';
import { normalizePassword } from '../../service/account/password.ts';
import { createSecret } from '../../service/account/secret.ts';
import { AppError } from '../../shared/errors.ts';
import { Semaphore, SemaphoreFull } from '../../shared/semaphore.ts';

/** argon2id with the parameters OWASP recommends: 19 MiB, two passes, one lane. */
const COST = { memoryCost: 19_456, timeCost: 2, parallelism: 1 };
const MAX_CONCURRENT = 2;
const MAX_WAITING = 30;

export class Passwords {
  readonly #semaphore = new Semaphore({ permits: MAX_CONCURRENT, maxWaiting: MAX_WAITING });
  /** The hash of a random password, verified for unknown users so that they take the same time. */
  readonly #decoyHash: Promise<string> = hash(createSecret(), COST);

  async hash(password: string): Promise<string> {
    return await this.#limited(async () => await hash(normalizePassword(password), COST));
  }

  /** Returns false for an unknown user, who has no hash. */
  async verify(passwordHash: string | undefined, password: string): Promise<boolean> {
    const expected = passwordHash ?? (await this.#decoyHash);
    const isCorrect = await this.#limited(async () => await verify(expected, normalizePassword(password)));
    return isCorrect && passwordHash !== undefined;
  }

  async #limited<Result>(task: () => Promise<Result>): Promise<Result> {
    try {
      return await this.#semaphore.run(task);
    } catch (error) {
      if (!(error instanceof SemaphoreFull)) throw error;
      throw new AppError('overloaded', 'Too many people are signing in right now. Try again in a few seconds.', {
        retryAfterSeconds: 5,
      });
    }
  }
}
