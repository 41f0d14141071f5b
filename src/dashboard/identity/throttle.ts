// How often somebody may try: by address and by account, so that neither one machine with many accounts nor many machines
// with one account get far. Servers that share a database count together.

import type { Rate } from '../../account/gcra.ts';
import { hashSecret } from '../../account/secret.ts';
import { AppError } from '../../errors.ts';
import { networkOf } from '../../http/limits/network.ts';
import type { Limits } from '../../store/store.ts';

const QUARTER_MS = 15 * 60_000;
const HOUR_MS = 60 * 60_000;

const RATES = {
  signIn: { address: { burst: 60, windowMs: QUARTER_MS }, account: { burst: 40, windowMs: QUARTER_MS } },
  signUp: { address: { burst: 20, windowMs: HOUR_MS }, account: { burst: 5, windowMs: HOUR_MS } },
  reset: { address: { burst: 20, windowMs: HOUR_MS }, account: { burst: 5, windowMs: HOUR_MS } },
  password: { address: { burst: 60, windowMs: QUARTER_MS }, account: { burst: 10, windowMs: QUARTER_MS } },
} as const satisfies Record<string, { address: Rate; account: Rate }>;

/** One address on one account: few, so that nobody can lock somebody else out from elsewhere. */
const PAIR: Rate = { burst: 10, windowMs: QUARTER_MS };

export class Throttle {
  readonly #limits: Pick<Limits, 'take'>;

  constructor(limits: Pick<Limits, 'take'>) {
    this.#limits = limits;
  }

  /** Counts a try, whether it succeeds or not. Throws when there were too many. */
  async take(what: keyof typeof RATES, address: string, account: string): Promise<void> {
    const network = networkOf(address);
    const rates = RATES[what];
    await this.#take(`${what} from ${network}`, rates.address);
    await this.#take(`${what} from ${network} to ${account}`, PAIR);
    await this.#take(`${what} to ${account}`, rates.account);
  }

  async #take(name: string, rate: Rate): Promise<void> {
    // Hashed: who tried to sign in is nothing to keep in a table.
    const { allowed, retryAfterMs } = await this.#limits.take(`site:${hashSecret(name)}`, rate);
    if (allowed) return;
    throw new AppError('rate_limited', 'Too many tries. Wait a few minutes, then try again.', {
      retryAfterSeconds: Math.max(1, Math.ceil(retryAfterMs / 1_000)),
    });
  }
}
