// The common part of all renders that an account pays for, whether it waits for them or not.

import type { PlanLimits } from '../account/plans.ts';
import { type PricedMedia, priceOf } from '../account/pricing.ts';
import { asAppError } from '../../shared/errors.ts';
import type { FailedDecodes } from '../limits/failed-decodes.ts';
import { type BaseLayer, composeRecipe, type RenderRecipe } from '../../engine/render/compose.ts';
import type { RequestedLogo } from '../../engine/caption/logo.ts';
import type { RecipeLogo } from '../../engine/render/logo.ts';
import type { Logger } from '../telemetry/logger.ts';
import type { Caller } from '../account/caller.ts';
import type { ParsedRequest } from './parse.ts';
import type { FinishedRender, RenderOrder } from './perform-render.ts';
import type { CreditReservations, Reservation } from './reserve.ts';
import { type KeptTranscript, type SpeechCaptions, speechSecondsOf } from './speech-captions.ts';

export interface AccountServices {
  readonly failedDecodes: FailedDecodes;
  readonly reservations: CreditReservations;
  readonly logger: Logger;
  readonly speechCaptions: SpeechCaptions;
  /** The size of the largest file that a worker may write. */
  readonly outputBytes: number;
}

/** The logos of accounts; see `brand/saved-logos.ts`. */
export interface LogoImages {
  load(accountId: string, requested: RequestedLogo | undefined): Promise<RecipeLogo | undefined>;
}

interface AccountRender {
  /** The id under which credits are reserved. */
  readonly renderId: string;
  readonly caller: Caller;
  readonly limits: PlanLimits;
  /** True if the render was already paid for with the same idempotency key. */
  readonly isReplay: boolean;
  readonly logo?: RecipeLogo | undefined;
  /** Set for an asynchronous render; see `NewHold`. */
  readonly attempt?: number;
  /** Set for an asynchronous render. */
  readonly kept?: KeptTranscript;
}

type AccountPart = 'source' | 'limits' | 'isStrict' | 'compose' | 'speech' | 'reserve' | 'onFailure';

export function accountOrder(
  services: AccountServices,
  parsed: ParsedRequest,
  { renderId, caller, limits: allowed, isReplay, logo, attempt, kept }: AccountRender,
): Pick<RenderOrder<Reservation, never>, AccountPart> {
  const { failedDecodes, reservations, speechCaptions } = services;
  const { overlays, output, strict, asset, delivery } = parsed;
  const isStored = attempt !== undefined || delivery.isLink || delivery.put !== undefined;
  const outputBytes = Math.min(services.outputBytes, isStored ? caller.plan.limits.storedBytes : Infinity);
  const limits = { ...allowed, outputBytes };
  const speech = parsed.speech && speechCaptions.open({ renderId, caller, speech: parsed.speech, kept });
  return {
    source: parsed,
    limits,
    isStrict: strict,
    speech,
    compose: (base, spoken = overlays) => {
      const recipe = composeRecipe(base, spoken, limits, { output, logo, watermark: caller.mode === 'test' });
      if (speech) speechSecondsOf(base);
      return recipe;
    },
    reserve: async (base, recipe) => {
      const reservation = await reservations.reserve(caller, {
        renderId,
        kind: recipe.kind === 'clip' ? 'video' : (asset?.kind ?? 'overlay'),
        credits: priceOf(pricedOf(base, recipe), {
          mode: caller.mode,
          isReplay,
          speechSeconds: speech && speechSecondsOf(base),
        }),
        isReplay,
        ...(attempt !== undefined && { attempt }),
      });
      return speech ? endingTranscript(reservation, speechCaptions, { renderId, caller }) : reservation;
    },
    // A file that can't be decoded counts against the account's allowance.
    onFailure: async (error) => await failedDecodes.count(caller, error),
  };
}

function pricedOf(base: BaseLayer, recipe: RenderRecipe): PricedMedia {
  if (recipe.kind === 'cover') return recipe;
  return recipe.kind === 'clip' ? { kind: 'video', durationSeconds: recipe.durationSeconds } : base;
}

/** A transcription counts against the account unless its render is charged. */
function endingTranscript(
  reservation: Reservation,
  speechCaptions: SpeechCaptions,
  { renderId, caller }: Pick<AccountRender, 'renderId' | 'caller'>,
): Reservation {
  const end = async (isCharged: boolean): Promise<void> =>
    await speechCaptions.end(caller, renderId, isCharged && reservation.credits > 0);
  return {
    ...reservation,
    settle: async (durationMs, remember) => {
      await reservation.settle(durationMs, remember);
      await end(true);
    },
    endWithResult: async () => {
      await reservation.endWithResult();
      await end(true);
    },
    // The delivery of the file charges, or doesn't.
    handOver: async () => {
      await reservation.handOver();
      await end(false);
    },
    release: async (error, durationMs, remember) => {
      await reservation.release(error, durationMs, remember);
      await end(asAppError(error).isCharged);
    },
    breakOff: async (broken, durationMs, remember) => {
      const isCharged = await reservation.breakOff(broken, durationMs, remember);
      await end(isCharged);
      return isCharged;
    },
  };
}

export function logWarnings(
  { logger }: Pick<AccountServices, 'logger'>,
  { renderId, caller }: Pick<AccountRender, 'renderId' | 'caller'>,
  { facts: { warnings } }: FinishedRender,
): void {
  if (warnings.length === 0) return;
  logger.info({ renderId, accountId: caller.accountId, warnings }, 'render completed with warnings');
}
