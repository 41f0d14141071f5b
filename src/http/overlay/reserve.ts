// Credits around a render: reserved before it, charged when its last byte has been written, given back otherwise. What a
// crash leaves behind is released, never charged.

import { priceOf, remaining } from '../../account/credits.ts';
import { AppError } from '../../errors.ts';
import type { Ending, Ledger, Remembered, RenderKind } from '../../store/store.ts';
import type { Logger } from '../../telemetry/logger.ts';
import type { Caller } from '../access/caller.ts';

export interface ReservationRequest {
  readonly renderId: string;
  readonly kind: RenderKind;
  readonly credits: number;
}

/** One render's credits, reserved. Ends once, by either of the two. */
export interface Reservation {
  readonly credits: number;
  readonly remaining: number;
  settle(durationMs: number, remember?: Remembered): Promise<void>;
  release(outcome: string, durationMs: number | undefined): Promise<void>;
}

/** Other servers reserve too, and renders of one account run side by side: this many times the price must be left. */
const SURE_TIMES = 100;
const MOST_REMEMBERED = 10_000;

export class CreditReservations {
  readonly #ledger: Ledger;
  readonly #logger: Logger;
  /** What accounts had left when they were last served here; the longest unseen are forgotten first. */
  readonly #left = new Map<string, number>();

  constructor(ledger: Ledger, logger: Logger) {
    this.#ledger = ledger;
    this.#logger = logger;
  }

  /**
   * Whether the credits are all but certain: then a render may begin while the ledger still writes. Who is short of them
   * gets no work for nothing.
   */
  isSureOf({ accountId, mode }: Caller, credits: number): boolean {
    const price = priceOf(mode, credits);
    return price === 0 || price * SURE_TIMES <= (this.#left.get(accountId) ?? 0);
  }

  /** Throws `quota_exceeded` when the period's credits are not enough. */
  async reserve(caller: Caller, { renderId, kind, credits }: ReservationRequest): Promise<Reservation> {
    const { accountId, keyId, mode, subscription, plan } = caller;
    const price = priceOf(mode, credits);
    const hold = { renderId, accountId, keyId, mode, kind, credits: price, period: subscription.period };
    const { granted, balance } = await this.#ledger.reserve({ ...hold, limit: plan.credits });
    this.#note(accountId, remaining(balance));
    if (!granted) throw quotaExceeded(caller, price, remaining(balance));
    return {
      credits: price,
      remaining: remaining(balance),
      settle: async (durationMs, remember) => {
        const ending: Ending = { outcome: 'delivered', durationMs };
        await this.#end(renderId, async () => await this.#ledger.settle(renderId, ending, remember));
      },
      release: async (outcome, durationMs) => {
        const ending: Ending = { outcome, durationMs };
        await this.#end(renderId, async () => await this.#ledger.release(renderId, ending));
      },
    };
  }

  #note(accountId: string, left: number): void {
    this.#left.delete(accountId);
    this.#left.set(accountId, left);
    const [oldest] = this.#left.keys();
    if (this.#left.size > MOST_REMEMBERED && oldest !== undefined) this.#left.delete(oldest);
  }

  /** Never throws: the answer is on its way already. The ledger itself comes back to what the database did not take. */
  async #end(renderId: string, write: () => Promise<boolean>): Promise<void> {
    try {
      if (!(await write())) this.#logger.warn({ renderId }, 'a hold was gone before its render ended');
    } catch (error) {
      this.#logger.warn({ renderId, err: error }, 'the end of a render is not in the ledger yet');
    }
  }
}

function quotaExceeded({ plan, subscription }: Caller, needed: number, left: number): AppError {
  const { endsAt } = subscription.period;
  const when = subscription.renews
    ? `They renew at ${endsAt.toISOString()}.`
    : 'The subscription ends with this period.';
  const detail = `This render costs ${needed} of the period's ${plan.credits} credits; ${left} are left. ${when}`;
  return new AppError('quota_exceeded', detail, {
    limit: { limit: plan.credits, actual: plan.credits - left + needed },
    retryAfterSeconds: Math.max(1, Math.ceil((endsAt.getTime() - Date.now()) / 1_000)),
    ...(subscription.renews && { renewsAt: endsAt }),
  });
}
