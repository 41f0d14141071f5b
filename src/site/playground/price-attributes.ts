// Tells the browser the terms of pages that render for visitors; see `termsIn` in `browser/playground/payer.ts`.

import { FREE_CLIP_SECONDS, GUEST_MAX_SIDE, MAX_CLIP_BYTES, UNMARKED_SIDE } from '../../service/account/guest.ts';
import type { PlanLimits } from '../../service/account/plans.ts';
import { type Html, html } from '../html.ts';
import type { Site } from '../page.ts';
import type { PlanOffer } from '../plan-cards.ts';

/** Returns the page where visitors get an API key for free, or undefined if they can't. */
export function freeSignUpPath({ signUpPath }: Site, plans: readonly PlanOffer[]): string | undefined {
  return plans.some((plan) => plan.monthlyPriceCents === 0) ? signUpPath : undefined;
}

/** What visitors without a key may render. */
export interface GuestTerms {
  readonly hasFreeClips: boolean;
  readonly limits: Pick<PlanLimits, 'imageBytes' | 'videoBytes'>;
}

export function priceAttributes({ hasFreeClips, limits }: GuestTerms, signUpPath: string | undefined): Html {
  const videoBytes = Math.min(limits.videoBytes, MAX_CLIP_BYTES);
  return html`data-max-side="${GUEST_MAX_SIDE}" data-unmarked-side="${UNMARKED_SIDE}"
data-free-seconds="${hasFreeClips ? FREE_CLIP_SECONDS : 0}" data-image-bytes="${limits.imageBytes}" data-video-bytes="${videoBytes}"
data-sign-up-path="${signUpPath ?? ''}"`;
}
