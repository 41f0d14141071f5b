// Compares the prices at Stripe with those on the pricing page. Nothing else would notice a price that was archived or changed
// until a customer pays.

import type { Stripe } from 'stripe';
import type { Plan, PlanBook } from '../account/plans.ts';
import { createStripeClient, describeError, type StripeAccess } from './stripe-client.ts';

/** What is wrong with the price of a plan: how it differs, or why it wasn't found. */
export interface PriceFinding {
  readonly plan: string;
  readonly faults: readonly string[];
  readonly reason?: string;
}

/** Findings about the plans whose prices aren't right. */
export async function wrongPrices(stripe: Stripe, { plans, currency }: PlanBook): Promise<PriceFinding[]> {
  const findings: PriceFinding[] = [];
  for (const plan of plans) {
    if (plan.stripePrice === undefined) continue;
    try {
      const faults = priceFaults(plan, await stripe.prices.retrieve(plan.stripePrice), currency);
      if (faults.length > 0) findings.push({ plan: plan.name, faults });
    } catch (error) {
      findings.push({ plan: plan.name, faults: [], reason: describeError(error) });
    }
  }
  return findings;
}

/** For `storybar doctor`, in words. */
export async function describeWrongPrices(access: StripeAccess, plans: PlanBook): Promise<string[]> {
  const findings = await wrongPrices(createStripeClient(access), plans);
  return findings.map(({ plan, faults, reason }) => `plan "${plan}": ${reason ?? faults.join(', ')}`);
}

function priceFaults(plan: Plan, price: Stripe.Price, currency: string): string[] {
  const { unit_amount: amount, recurring } = price;
  const monthly = recurring?.interval === 'month' && recurring.interval_count === 1;
  return [
    ...(price.active ? [] : ['the price is archived']),
    ...(monthly ? [] : ['the price is not monthly']),
    ...(price.currency.toUpperCase() === currency
      ? []
      : [`the currency is ${price.currency.toUpperCase()}, not ${currency}`]),
    ...(amount === plan.monthlyPriceCents ? [] : [`the amount is ${amount}, not ${plan.monthlyPriceCents}`]),
  ];
}
