// The common part of all renders that an account pays for, whether it waits for them or not.

import type { PlanLimits } from '../account/plans.ts';
import { type PricedMedia, priceOf } from '../account/pricing.ts';
import type { FailedDecodes } from '../limits/failed-decodes.ts';
import { type BaseLayer, composeRecipe, type RenderRecipe } from '../render/compose.ts';
import type { Logger } from '../telemetry/logger.ts';
import type { Caller } from '../account/caller.ts';
import type { ParsedRequest } from './parse.ts';
import type { FinishedRender, RenderOrder } from './perform-render.ts';
import type { CreditReservations, Reservation } from './reserve.ts';

export interface AccountServices {
  readonly failedDecodes: FailedDecodes;
  readonly reservations: CreditReservations;
  readonly logger: Logger;
}

interface AccountRender {
  /** The id under which credits are reserved. */
  readonly renderId: string;
  readonly caller: Caller;
  readonly limits: PlanLimits;
  /** True if the render was already paid for with the same idempotency key. */
  readonly isReplay: boolean;
  /** Set for an asynchronous render; see `NewHold`. */
  readonly attempt?: number;
}

type AccountPart = 'source' | 'limits' | 'isStrict' | 'compose' | 'reserve' | 'onFailure';

export function accountOrder(
  { failedDecodes, reservations }: AccountServices,
  parsed: ParsedRequest,
  { renderId, caller, limits, isReplay, attempt }: AccountRender,
): Pick<RenderOrder<Reservation, never>, AccountPart> {
  const { overlays, output, strict, asset } = parsed;
  return {
    source: parsed,
    limits,
    isStrict: strict,
    compose: (base) => composeRecipe(base, overlays, limits, { output, watermark: caller.mode === 'test' }),
    reserve: async (base, recipe) =>
      await reservations.reserve(caller, {
        renderId,
        kind: recipe.kind === 'clip' ? 'video' : (asset?.kind ?? 'overlay'),
        credits: priceOf(pricedOf(base, recipe), { mode: caller.mode, isReplay }),
        isReplay,
        ...(attempt !== undefined && { attempt }),
      }),
    // A file that can't be decoded counts against the account's allowance.
    onFailure: async (error) => await failedDecodes.count(caller, error),
  };
}

function pricedOf(base: BaseLayer, recipe: RenderRecipe): PricedMedia {
  if (recipe.kind === 'cover') return recipe;
  return recipe.kind === 'clip' ? { kind: 'video', durationSeconds: recipe.durationSeconds } : base;
}

export function logWarnings(
  { logger }: Pick<AccountServices, 'logger'>,
  { renderId, caller }: Pick<AccountRender, 'renderId' | 'caller'>,
  { facts: { warnings } }: FinishedRender,
): void {
  if (warnings.length === 0) return;
  logger.info({ renderId, accountId: caller.accountId, warnings }, 'render completed with warnings');
}
