// Credits around a render: reserved before it, charged when its last byte has been written, given back otherwise. A store
// that fails after the delivery is asked again until it answers; what a crash leaves behind is released, never charged.

import { priceOf, remaining } from '../account/credits.ts';
import { AppError } from '../errors.ts';
import type { Ending, Ledger, Remembered, RenderKind } from '../store/store.ts';
import type { Logger } from '../telemetry/logger.ts';
import type { Caller } from './caller.ts';

const RETRY_MS = 1_000;

export interface Order {
  readonly renderId: string;
  readonly kind: RenderKind;
  readonly credits: number;
}

/** One render's credits, reserved. Ends once, by either of the two. */
export interface Charge {
  readonly credits: number;
  readonly remaining: number;
  settle(durationMs: number, remember?: Remembered): Promise<void>;
  release(outcome: string, durationMs: number | undefined): Promise<void>;
}

interface Unfinished {
  readonly renderId: string;
  readonly finish: () => Promise<boolean>;
}

export class Cashier {
  readonly #ledger: Ledger;
  readonly #logger: Logger;
  readonly #unfinished = new Map<string, Unfinished>();
  #timer: NodeJS.Timeout | undefined;

  constructor(ledger: Ledger, logger: Logger) {
    this.#ledger = ledger;
    this.#logger = logger;
  }

  /** Throws `quota_exceeded` when the period's credits are not enough. */
  async reserve(caller: Caller, { renderId, kind, credits }: Order): Promise<Charge> {
    const { accountId, keyId, mode, subscription, plan } = caller;
    const price = priceOf(mode, credits);
    const hold = { renderId, accountId, keyId, mode, kind, credits: price, period: subscription.period };
    const { granted, balance } = await this.#ledger.reserve({ ...hold, limit: plan.credits });
    if (!granted) throw quotaExceeded(caller, price, remaining(balance));
    return {
      credits: price,
      remaining: remaining(balance),
      settle: async (durationMs, remember) => {
        const ending: Ending = { outcome: 'delivered', durationMs };
        await this.#finish({ renderId, finish: async () => await this.#ledger.settle(renderId, ending, remember) });
      },
      release: async (outcome, durationMs) => {
        const ending: Ending = { outcome, durationMs };
        await this.#finish({ renderId, finish: async () => await this.#ledger.release(renderId, ending) });
      },
    };
  }

  /** Tries what is left once more; for the end of the process. */
  async close(): Promise<void> {
    clearTimeout(this.#timer);
    await this.#retry();
    for (const { renderId } of this.#unfinished.values()) this.#logger.error({ renderId }, 'credits left reserved');
  }

  async #finish(item: Unfinished): Promise<void> {
    try {
      const done = await item.finish();
      if (!done) this.#logger.warn({ renderId: item.renderId }, 'a hold was gone before it was settled');
      this.#unfinished.delete(item.renderId);
    } catch (error) {
      if (!this.#unfinished.has(item.renderId)) {
        this.#logger.warn({ renderId: item.renderId, err: error }, 'credits not settled, trying again');
      }
      this.#unfinished.set(item.renderId, item);
      this.#timer ??= setTimeout(() => void this.#retry(), RETRY_MS).unref();
    }
  }

  async #retry(): Promise<void> {
    this.#timer = undefined;
    for (const item of [...this.#unfinished.values()]) await this.#finish(item);
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
