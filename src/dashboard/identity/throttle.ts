// How often somebody may try: by address and by account, so that neither one machine with many accounts nor many machines
// with one account get far. Held in memory, per process.

import type { Rate } from '../../account/gcra.ts';
import { AppError } from '../../errors.ts';
import { RateBook } from '../../http/rate-book.ts';
import { networkOf } from '../../http/network.ts';

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
  readonly #rates: RateBook;

  constructor(rates: RateBook = new RateBook()) {
    this.#rates = rates;
  }

  /** Counts a try, whether it succeeds or not. Throws when there were too many. */
  take(what: keyof typeof RATES, address: string, account: string): void {
    const network = networkOf(address);
    const rates = RATES[what];
    this.#take(`${what} from ${network}`, rates.address);
    this.#take(`${what} from ${network} to ${account}`, PAIR);
    this.#take(`${what} to ${account}`, rates.account);
  }

  #take(name: string, rate: Rate): void {
    const { allowed, retryAfterMs } = this.#rates.take(name, rate);
    if (allowed) return;
    throw new AppError('rate_limited', 'Too many tries. Wait a few minutes, then try again.', {
      retryAfterSeconds: Math.max(1, Math.ceil(retryAfterMs / 1_000)),
    });
  }
}
