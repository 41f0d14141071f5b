// The card is charged what the customer has confirmed, or not at all.

import { afterEach, beforeEach, expect, it } from 'vitest';
import type { ConfirmedCharge } from '../../src/service/billing/billing.ts';
import { StripeWorld } from './stripe-world.ts';

let world: StripeWorld;
beforeEach(async () => {
  world = await StripeWorld.create();
  await world.buy('starter');
});
afterEach(async () => await world.close());

/** Returns the customer's confirmation from the page that shows the charge for an upgrade. */
async function confirmed(plan: string): Promise<ConfirmedCharge> {
  const preview = await world.billing.previewPlan(world.accountId, plan);
  if (preview.kind !== 'charge') throw new Error(`the preview is of the kind "${preview.kind}"`);
  return { asOf: preview.asOf, fromPlan: preview.fromPlan, due: preview.amount?.due };
}

it('a charge has the confirmed amount', async () => {
  const charge = await confirmed('pro');
  expect(await world.choose('pro', charge)).toEqual({ kind: 'granted', when: 'now' });
  expect(world.account.invoices.at(-1)?.amount).toBe(charge.due);
});

it('asks again when the period was renewed after the confirmation', async () => {
  const charge = await confirmed('pro');
  world.account.advance(31);
  const invoices = world.account.invoices.length;
  expect(await world.choose('pro', charge)).toEqual({ kind: 'confirm again' });
  expect(world.account.invoices).toHaveLength(invoices);
  expect(await world.choose('pro', await confirmed('pro'))).toEqual({ kind: 'granted', when: 'now' });
});

it.each(['pro', 'business'])(
  'asks again when another member has switched to %s after the confirmation',
  async (other) => {
    const plan = other === 'pro' ? 'business' : 'pro';
    const charge = await confirmed(plan);
    await world.choose(other);
    const invoices = world.account.invoices.length;
    expect(await world.choose(plan, charge)).toEqual({ kind: 'confirm again' });
    expect(world.account.invoices).toHaveLength(invoices);
    await world.webhooks.deliver();
    expect(await world.subscription()).toMatchObject({ plan: other, nextPlan: null });
  },
);

it('asks again when the amount was changed by hand', async () => {
  const charge = await confirmed('pro');
  for (const due of [undefined, (charge.due ?? 0) + 1]) {
    expect(await world.choose('pro', { ...charge, due })).toEqual({ kind: 'confirm again' });
  }
  expect(await world.subscription()).toMatchObject({ plan: 'starter' });
});
