// Plans and prices as cards. What is the same in every plan is said once, below the cards.

import type { Plan } from '../service/account/plans.ts';
import { type Content, type Html, html } from './html.ts';

export interface PlanOffer extends Plan {
  /** An ISO 4217 code, such as `USD`. */
  readonly currency: string;
}

const NUMBER = new Intl.NumberFormat('en');
const PER = 1_000;

/** `actionOf` is the button of a plan, if its card has one. */
export function planCards(plans: readonly PlanOffer[], actionOf: (plan: PlanOffer) => Content = () => ''): Html {
  const cards = plans.map(
    (plan) => html`<li class="plan">
<h3>${plan.title}</h3>
${planFacts(plan, plans)}
${actionOf(plan)}
</li>`,
  );
  return html`<ul class="plans">${cards}</ul>
${sharedLimits(plans)}`;
}

/** Price, credits and limits of a plan, one of `plans`. */
export function planFacts(plan: PlanOffer, plans: readonly Plan[]): Html {
  return html`<p class="price"><strong>${money(plan.monthlyPriceCents, plan.currency)}</strong> per month</p>
<ul>
<li><strong>${NUMBER.format(plan.credits)}</strong> credits per month</li>
${plan.monthlyPriceCents > 0 && html`<li>${perThousand(plan)} per ${NUMBER.format(PER)} images</li>`}
<li>${NUMBER.format(plan.requestsPerMinute)} requests per minute</li>
<li>${plan.concurrentRenders} concurrent ${plan.concurrentRenders === 1 ? 'render' : 'renders'}</li>
${!isSameInAll(plans) && limitsOf(plan).map((limit) => html`<li>${limit}</li>`)}
</ul>`;
}

/** Undefined if plans differ; each card then has its own. */
export function sharedLimits(plans: readonly Plan[]): Html | undefined {
  const [first] = plans;
  return first !== undefined && isSameInAll(plans)
    ? html`<p>Every plan: ${limitsOf(first)
        .map((limit) => limit.charAt(0).toLowerCase() + limit.slice(1))
        .join(', ')}.</p>`
    : undefined;
}

function isSameInAll(plans: readonly Plan[]): boolean {
  return new Set(plans.map((plan) => limitsOf(plan).join(' '))).size === 1;
}

function limitsOf({ limits: { imageBytes, videoBytes, videoSeconds } }: Plan): string[] {
  return [`Images up to ${megabytes(imageBytes)}`, `Videos up to ${megabytes(videoBytes)} and ${videoSeconds} seconds`];
}

/** An image is one credit. */
function perThousand({ monthlyPriceCents, credits, currency }: PlanOffer): string {
  return money((monthlyPriceCents / credits) * PER, currency);
}

function money(cents: number, currency: string): string {
  const isWhole = Math.round(cents) % 100 === 0;
  const format = new Intl.NumberFormat('en-US', {
    style: 'currency',
    currency,
    minimumFractionDigits: isWhole ? 0 : 2,
    maximumFractionDigits: isWhole ? 0 : 2,
  });
  return format.format(cents / 100);
}

function megabytes(bytes: number): string {
  return `${NUMBER.format(bytes / 1_000_000)} MB`;
}
