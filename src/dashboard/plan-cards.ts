// Plans and prices as cards.

import type { Plan } from '../account/plans.ts';
import { type Html, html } from './html.ts';

export interface PlanOffer extends Plan {
  /** An ISO 4217 code, such as `USD`. */
  readonly currency: string;
}

const NUMBER = new Intl.NumberFormat('en');

export function planCards(plans: readonly PlanOffer[]): Html {
  return html`<ul class="plans">${plans.map(planCard)}</ul>`;
}

function planCard(plan: PlanOffer): Html {
  return html`<li class="plan">
<h3>${plan.title}</h3>
${planFacts(plan)}
</li>`;
}

/** Lists the price, credits and limits of a plan. */
export function planFacts(plan: PlanOffer): Html {
  const { imageBytes, videoBytes, videoSeconds } = plan.limits;
  return html`<p class="price"><strong>${priceOf(plan)}</strong> per month</p>
<ul>
<li><strong>${NUMBER.format(plan.credits)}</strong> credits per month</li>
<li>${NUMBER.format(plan.requestsPerMinute)} requests per minute</li>
<li>${plan.concurrentRenders} concurrent ${plan.concurrentRenders === 1 ? 'render' : 'renders'}</li>
<li>Images up to ${megabytes(imageBytes)}</li>
<li>Videos up to ${megabytes(videoBytes)} and ${videoSeconds} seconds</li>
</ul>`;
}

function priceOf({ monthlyPriceCents, currency }: PlanOffer): string {
  const fraction = monthlyPriceCents % 100 === 0 ? 0 : 2;
  const format = new Intl.NumberFormat('en-US', { style: 'currency', currency, minimumFractionDigits: fraction });
  return format.format(monthlyPriceCents / 100);
}

function megabytes(bytes: number): string {
  return `${NUMBER.format(bytes / 1_000_000)} MB`;
}
