// Credits of a render: reserved before it starts, settled when the last byte has been sent, released otherwise. The
// allowance for broken deliveries is in `account/broken-delivery.ts`. The reservations of a crashed server are
// released, never charged.

import { type Balance, remaining } from '../account/credits.ts';
import { AppError } from '../../shared/errors.ts';
import { toRetryAfter } from '../limits/assert-rate.ts';
import type { Ending, Remembered } from '../store/ledger/holds.ts';
import type { Ledger } from '../store/ledger/ledger.ts';
import type { RenderKind } from '../store/ledger/usage-details.ts';
import type { Logger } from '../telemetry/logger.ts';
import type { Caller } from '../account/caller.ts';
import { TEST_RENDERS_PER_DAY, testRendersExceeded } from './test-render-limit.ts';
import type { DeliveryBroken } from './delivery-broken.ts';
import type { Payment } from './perform-render.ts';
import { outcomeOf } from './refusals.ts';

export interface ReservationRequest {
  readonly renderId: string;
  readonly kind: RenderKind;
  readonly credits: number;
  /** Set for an asynchronous render; see `NewHold`. */
  readonly attempt?: number;
  /** True for a request with the same idempotency key as a delivered one. */
  readonly isReplay: boolean;
}

/**
 * The reserved credits of one render. A reservation ends once, by `settle`, `release`, `breakOff`, `endWithResult` or
 * `handOver`. Later calls do nothing.
 */
export interface Reservation extends Payment {
  readonly credits: number;
  readonly remaining: number;
  /** `remember` is stored with a refusal that is charged. */
  release(error: unknown, durationMs: number, remember?: Remembered): Promise<void>;
  settle(durationMs: number, remember?: Remembered): Promise<void>;
  /** Called when the result was stored and charged in one step. */
  endWithResult(): Promise<void>;
  /** Called when a stored render has taken the reservation over. */
  handOver(): Promise<void>;
  /**
   * Called when the client left during the delivery. Returns whether it was charged all the same; see
   * `account/broken-delivery.ts`.
   */
  breakOff(broken: DeliveryBroken, durationMs: number, remember?: Remembered): Promise<boolean>;
}

export class CreditReservations {
  readonly #ledger: Ledger;
  readonly #logger: Logger;

  constructor(ledger: Ledger, logger: Logger) {
    this.#ledger = ledger;
    this.#logger = logger;
  }

  /**
   * Throws `quota_exceeded` when too few credits are left in the billing period, and `test_renders_exceeded` likewise.
   */
  async reserve(caller: Caller, request: ReservationRequest): Promise<Reservation> {
    const { renderId, kind, credits, attempt, isReplay } = request;
    const { accountId, keyId, mode, subscription, plan } = caller;
    const hold = {
      renderId,
      accountId,
      keyId,
      mode,
      kind,
      credits,
      period: subscription.period,
      ...(attempt !== undefined && { attempt }),
      ...(mode === 'test' && attempt === undefined && !isReplay && { testRendersPerDay: TEST_RENDERS_PER_DAY }),
    };
    const { granted, balance, testRenders } = await this.#ledger.reserve({ ...hold, limit: plan.credits });
    if (testRenders !== undefined) throw testRendersExceeded(testRenders);
    if (!granted) throw quotaExceeded(caller, credits, balance);
    let isEnded = false;
    return {
      credits,
      remaining: remaining(balance),
      settle: async (durationMs, remember) => {
        isEnded = true;
        const ending: Ending = { outcome: 'delivered', durationMs };
        await this.#end(renderId, async () => await this.#ledger.settle(renderId, ending, remember));
      },
      endWithResult: async () => {
        isEnded = true;
      },
      handOver: async () => {
        isEnded = true;
      },
      release: async (error, durationMs, remember) => {
        if (isEnded) return;
        isEnded = true;
        const ending: Ending = { outcome: outcomeOf(error), durationMs };
        const isCharged = error instanceof AppError && error.isCharged;
        await this.#end(renderId, async () =>
          isCharged
            ? await this.#ledger.settle(renderId, ending, remember)
            : await this.#ledger.release(renderId, ending),
        );
      },
      breakOff: async (broken, durationMs, remember) => {
        isEnded = true;
        const { sentBytes, totalBytes, message } = broken;
        let ended: 'free' | 'charged' | undefined;
        await this.#end(renderId, async () => {
          ended = await this.#ledger.breakOff(renderId, durationMs, remember);
          return ended !== undefined;
        });
        const isCharged = ended === 'charged';
        this.#logger.info(
          { renderId, accountId, sentBytes, totalBytes, reason: message, credits: isCharged ? credits : 0 },
          'delivery broken',
        );
        return isCharged;
      },
    };
  }

  /** Never throws, because the response has been sent. The ledger retries writes that the database refused. */
  async #end(renderId: string, write: () => Promise<boolean>): Promise<void> {
    try {
      if (!(await write())) this.#logger.warn({ renderId }, 'hold released before its render ended');
    } catch (error) {
      this.#logger.warn({ renderId, err: error }, 'ledger write failed, retrying');
    }
  }
}

function quotaExceeded({ subscription }: Caller, needed: number, balance: Balance): AppError {
  const { endsAt } = subscription.period;
  const when = subscription.renews
    ? `Credits renew at ${endsAt.toISOString()}.`
    : 'The subscription ends with this period.';
  const left = remaining(balance);
  const detail = `This render costs ${needed} credits; ${left} of ${balance.limit} are left in this billing period. ${when}`;
  return new AppError('quota_exceeded', detail, {
    limit: { limit: balance.limit, actual: balance.limit - left + needed },
    retryAfterSeconds: toRetryAfter(endsAt.getTime() - Date.now()),
    ...(subscription.renews && { renewsAt: endsAt }),
  });
}
