// Hashing passwords: slow and large on purpose, so only a few at once. Whoever comes when many wait is told to come again;
// logins can then exhaust neither the processor nor the memory.

import { hash, verify } from '@node-rs/argon2';
import { normalisePassword } from '../../account/password.ts';
import { createSecret } from '../../account/secret.ts';
import { AppError } from '../../errors.ts';

/** argon2id, as OWASP recommends: 19 MiB, two passes, one lane. */
const COST = { memoryCost: 19_456, timeCost: 2, parallelism: 1 };
const AT_ONCE = 2;
const MAX_WAITING = 30;

export class Passwords {
  readonly #waiting: (() => void)[] = [];
  #running = 0;
  /** Of a password nobody has: to spend the same time on an address nobody has. */
  readonly #nobodys: Promise<string>;

  constructor() {
    this.#nobodys = hash(createSecret(), COST);
  }

  async hash(password: string): Promise<string> {
    return await this.#inTurn(async () => await hash(normalisePassword(password), COST));
  }

  /** Takes as long for an unknown person. */
  async verify(passwordHash: string | undefined, password: string): Promise<boolean> {
    const against = passwordHash ?? (await this.#nobodys);
    const isRight = await this.#inTurn(async () => await verify(against, normalisePassword(password)));
    return isRight && passwordHash !== undefined;
  }

  async #inTurn<Result>(work: () => Promise<Result>): Promise<Result> {
    if (this.#running >= AT_ONCE) {
      if (this.#waiting.length >= MAX_WAITING) {
        throw new AppError('overloaded', 'Too many people sign in right now. Try again.', { retryAfterSeconds: 5 });
      }
      await new Promise<void>((resolve) => {
        this.#waiting.push(resolve);
      });
    } else this.#running += 1;
    try {
      return await work();
    } finally {
      // The place goes to the next one, or is free.
      const next = this.#waiting.shift();
      if (next) next();
      else this.#running -= 1;
    }
  }
}
