// Tells the browser the terms of pages that render for visitors; see `termsIn` in `browser/playground/payer.ts`.

import { FREE_CLIP_SECONDS, GUEST_MAX_SIDE } from '../../account/guest.ts';
import { type Html, html } from '../html.ts';
import type { Site } from '../page.ts';
import type { PlanOffer } from '../plan-cards.ts';

/** Returns the page where visitors get an API key for free, or undefined if they can't. */
export function freeSignUpPath({ signUpPath }: Site, plans: readonly PlanOffer[]): string | undefined {
  return plans.some((plan) => plan.monthlyPriceCents === 0) ? signUpPath : undefined;
}

export function priceAttributes(hasFreeClips: boolean, signUpPath: string | undefined): Html {
  return html`data-max-side="${GUEST_MAX_SIDE}" data-free-seconds="${hasFreeClips ? FREE_CLIP_SECONDS : 0}"
data-sign-up-path="${signUpPath ?? ''}"`;
}
