// Choosing plans, with the real library against the fake Stripe: payments, the time at which they apply, and the state
// of the store.

import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { StripeWorld } from './stripe-world.ts';

let world: StripeWorld;
beforeEach(async () => {
  world = await StripeWorld.create();
});
afterEach(async () => {
  await world.close();
});

describe('the first plan', () => {
  it('the first plan is paid for in the checkout, and applies when the event arrives', async () => {
    const choice = await world.choose('pro');
    expect(choice).toEqual({ kind: 'redirect', url: expect.stringContaining('https://checkout.invalid/') });
    expect(await world.subscription()).toBeUndefined();
    if (choice.kind === 'redirect') world.account.pay(choice.url);
    await world.webhooks.deliver();
    expect(await world.subscription()).toMatchObject({
      plan: 'pro',
      status: 'active',
      renews: true,
      nextPlan: null,
      provider: 'stripe',
      period: { startsAt: new Date('2026-03-10T00:00:00Z'), endsAt: new Date('2026-04-09T00:00:00Z') },
    });
  });

  it('the first plan applies when the user returns from the checkout, before the event', async () => {
    const choice = await world.choose('starter');
    if (choice.kind === 'redirect') world.account.pay(choice.url);
    await world.billing.refresh(world.accountId);
    expect(await world.subscription()).toMatchObject({ plan: 'starter', status: 'active' });
  });

  it('the first plan may be free, without a request to Stripe', async () => {
    expect(await world.choose('free')).toEqual({ kind: 'granted', when: 'now' });
    expect(await world.subscription()).toMatchObject({ plan: 'free', status: 'active', provider: 'manual' });
    expect(world.fake.requests).toEqual([]);
  });

  it('choosing the first plan creates one customer and leaves one checkout open, however often the button is clicked', async () => {
    await Promise.all([world.choose('pro'), world.choose('pro'), world.choose('starter')]);
    expect(world.account.customers.size).toBe(1);
    expect(world.account.sessions.map(({ status }) => status)).toEqual(['expired', 'expired', 'open']);
  });

  it('choosing the first plan creates one customer when the response to the first request is lost', async () => {
    world.fake.faults.push('lost');
    expect(await world.choose('pro')).toMatchObject({ kind: 'redirect' });
    expect(world.fake.requests.filter((call) => call === 'POST /v1/customers')).toHaveLength(2);
    expect(world.account.customers.size).toBe(1);
  });

  it('choosing the first plan cancels an incomplete first payment when another checkout is opened', async () => {
    const first = await world.choose('pro');
    const incomplete = first.kind === 'redirect' ? world.account.pay(first.url, false) : undefined;
    await world.webhooks.deliver();
    expect(await world.subscription()).toBeUndefined();
    await world.buy('starter');
    expect(incomplete?.status).toBe('canceled');
    expect(await world.subscription()).toMatchObject({ plan: 'starter', status: 'active' });
  });

  it('a checkout is refused for an unknown plan, an unknown account or a marketplace account', async () => {
    const pages = { successUrl: 'https://a.test', cancelUrl: 'https://a.test' };
    await expect(world.choose('gold')).rejects.toMatchObject({ code: 'not_found' });
    await expect(world.billing.choosePlan('unknown', 'pro', pages)).rejects.toMatchObject({ code: 'not_found' });
    await world.store.accounts.upsertMarketplaceAccount('rapidapi:x', 'free', 'system');
    await expect(world.billing.choosePlan('rapidapi:x', 'pro', pages)).rejects.toMatchObject({
      code: 'invalid_fields',
    });
  });
});

describe('an upgrade', () => {
  it('an upgrade applies immediately and keeps the period with what was used in it', async () => {
    await world.buy('starter');
    const before = await world.subscription();
    world.account.advance(10);
    expect(await world.choose('business')).toEqual({ kind: 'granted', when: 'now' });
    expect(await world.subscription()).toEqual({ ...before, plan: 'business' });
  });

  it('an upgrade waits for its invoice when the card is declined', async () => {
    const bought = await world.buy('starter');
    const customer = world.account.customers.get(bought.customer);
    if (customer) customer.card = 'declined';
    const choice = await world.choose('pro');
    expect(choice).toEqual({ kind: 'redirect', url: expect.stringContaining('https://invoice.invalid/in_') });
    expect(await world.subscription()).toMatchObject({ plan: 'starter', status: 'active' });
    world.account.payOpenInvoices(bought.customer);
    await world.webhooks.deliver();
    expect(await world.subscription()).toMatchObject({ plan: 'pro', status: 'active' });
  });

  it('an upgrade takes a cancellation back, but only once it is paid', async () => {
    const bought = await world.buy('starter');
    const customer = world.account.customers.get(bought.customer);
    await world.billing.cancel(world.accountId);
    if (customer) customer.card = 'declined';
    await world.choose('pro');
    expect(await world.subscription()).toMatchObject({ plan: 'starter', renews: false });
    if (customer) customer.card = 'good';
    await world.choose('pro');
    expect(await world.subscription()).toMatchObject({ plan: 'pro', renews: true });
  });

  it('an upgrade reports a declined card as payment_failed', async () => {
    await world.buy('starter');
    world.fake.beforeResponse = async ({ method, path }) => {
      if (method === 'POST' && path.startsWith('/v1/subscriptions/')) world.fake.faults.push(402);
    };
    await expect(world.choose('pro')).rejects.toMatchObject({
      code: 'payment_failed',
      message: 'Your card was declined.',
    });
    expect(await world.subscription()).toMatchObject({ plan: 'starter', status: 'active' });
  });
});

describe('a downgrade', () => {
  it('a downgrade applies from the next period', async () => {
    await world.buy('business');
    expect(await world.choose('starter')).toEqual({ kind: 'granted', when: 'next period' });
    expect(await world.subscription()).toMatchObject({ plan: 'business', nextPlan: 'starter', renews: true });
    world.account.advance(31);
    await world.webhooks.deliver();
    expect(await world.subscription()).toMatchObject({ plan: 'starter', nextPlan: null, status: 'active' });
  });

  it('a downgrade can be changed, taken back and replaced by an upgrade or a cancellation', async () => {
    await world.buy('pro');
    await world.choose('starter');
    await world.choose('pro');
    expect(await world.subscription()).toMatchObject({ plan: 'pro', nextPlan: null });
    await world.choose('starter');
    await world.billing.resume(world.accountId);
    expect(await world.subscription()).toMatchObject({ plan: 'pro', nextPlan: null });
    await world.choose('starter');
    await world.choose('business');
    expect(await world.subscription()).toMatchObject({ plan: 'business', nextPlan: null });
    await world.choose('pro');
    await world.choose('starter');
    expect(await world.subscription()).toMatchObject({ plan: 'business', nextPlan: 'starter' });
    await world.billing.cancel(world.accountId);
    expect(await world.subscription()).toMatchObject({ plan: 'business', nextPlan: null, renews: false });
    await world.choose('starter');
    expect(await world.subscription()).toMatchObject({ plan: 'business', nextPlan: 'starter', renews: true });
  });
});

describe('the free plan, chosen while another one is paid for,', () => {
  it('a pending free plan follows when the paid period ends', async () => {
    await world.buy('pro');
    expect(await world.choose('free')).toEqual({ kind: 'granted', when: 'next period' });
    expect(await world.subscription()).toMatchObject({
      plan: 'pro',
      nextPlan: 'free',
      renews: false,
      status: 'active',
    });
    world.account.advance(31);
    // There is always a plan, even before the event arrives.
    expect(await world.subscription()).toMatchObject({ status: 'active' });
    await world.webhooks.deliver();
    expect(await world.subscription()).toMatchObject({ plan: 'free', provider: 'manual', status: 'active' });
    expect((await world.subscription())?.period.startsAt).toEqual(world.fake.now());
    world.account.advance(70);
    expect(await world.subscription()).toMatchObject({ plan: 'free', status: 'active' });
  });

  it('a pending switch to the free plan can be taken back', async () => {
    await world.buy('pro');
    await world.choose('free');
    await world.billing.resume(world.accountId);
    expect(await world.subscription()).toMatchObject({ plan: 'pro', nextPlan: null, renews: true });
    world.account.advance(31);
    await world.webhooks.deliver();
    expect(await world.subscription()).toMatchObject({ plan: 'pro', status: 'active' });
  });

  it('a pending free plan applies immediately when the invoice of the other plan is not paid', async () => {
    const bought = await world.buy('pro');
    world.account.setStatus(bought, 'past_due');
    await world.webhooks.deliver();
    expect(await world.choose('free')).toEqual({ kind: 'granted', when: 'now' });
    expect(await world.subscription()).toMatchObject({ plan: 'free', provider: 'manual', status: 'active' });
    expect(bought.status).toBe('canceled');
  });

  it('the free plan is granted once after the paid plan has ended', async () => {
    const bought = await world.buy('pro');
    world.account.end(bought);
    expect(await world.choose('free')).toEqual({ kind: 'granted', when: 'now' });
    const free = await world.subscription();
    expect(free).toMatchObject({ plan: 'free', provider: 'manual', status: 'active' });
    world.account.advance(3);
    await world.webhooks.deliver();
    await world.choose('free');
    expect(await world.subscription()).toEqual(free);
  });

  it('a pending switch to the free plan can be replaced by a paid plan', async () => {
    await world.buy('pro');
    await world.choose('free');
    world.account.advance(31);
    await world.webhooks.deliver();
    await world.buy('starter');
    expect(await world.subscription()).toMatchObject({ plan: 'starter', provider: 'stripe', renews: true });
  });
});

describe('canceling', () => {
  it('keeps the plan until the paid period ends', async () => {
    await world.buy('pro');
    await world.billing.cancel(world.accountId);
    expect(await world.subscription()).toMatchObject({ plan: 'pro', status: 'active', renews: false, nextPlan: null });
    world.account.advance(31);
    expect(await world.subscription()).toMatchObject({ status: 'inactive' });
    await world.webhooks.deliver();
    expect(await world.subscription()).toMatchObject({ plan: 'pro', status: 'inactive', provider: 'stripe' });
    await expect(world.billing.resume(world.accountId)).rejects.toMatchObject({ code: 'subscription_inactive' });
  });

  it('canceling in the customer portal is recognized and can be taken back', async () => {
    const bought = await world.buy('pro');
    bought.cancelAt = bought.ends;
    world.account.emitChange(bought);
    await world.webhooks.deliver();
    expect(await world.subscription()).toMatchObject({ renews: false });
    await world.billing.resume(world.accountId);
    expect(bought.cancelAt).toBeNull();
    expect(await world.subscription()).toMatchObject({ renews: true });
  });

  it('canceling works for a free plan', async () => {
    await world.choose('free');
    await world.billing.cancel(world.accountId);
    expect(await world.subscription()).toMatchObject({ plan: 'free', renews: false });
    await world.billing.resume(world.accountId);
    expect(await world.subscription()).toMatchObject({ plan: 'free', renews: true });
  });
});

describe('an unpaid invoice', () => {
  it('an unpaid invoice makes the account inactive, and active again once it is paid', async () => {
    const bought = await world.buy('pro');
    const customer = world.account.customers.get(bought.customer);
    if (customer) customer.card = 'declined';
    world.account.advance(31);
    await world.webhooks.deliver();
    expect(await world.subscription()).toMatchObject({ plan: 'pro', status: 'inactive' });
    expect(await world.choose('business')).toEqual({
      kind: 'redirect',
      url: expect.stringContaining('portal.invalid'),
    });
    if (customer) customer.card = 'good';
    world.account.payOpenInvoices(bought.customer);
    await world.webhooks.deliver();
    expect(await world.subscription()).toMatchObject({ plan: 'pro', status: 'active' });
  });

  it.each(['unpaid', 'paused', 'past_due'] as const)(
    'an unpaid invoice makes a subscription that is %s inactive',
    async (status) => {
      const bought = await world.buy('pro');
      world.account.setStatus(bought, status);
      await world.webhooks.deliver();
      expect(await world.subscription()).toMatchObject({ status: 'inactive' });
    },
  );

  it('an unpaid invoice does not end a trial', async () => {
    const bought = await world.buy('pro');
    world.account.setStatus(bought, 'trialing');
    await world.webhooks.deliver();
    expect(await world.subscription()).toMatchObject({ status: 'active' });
  });
});

describe('the customer portal', () => {
  it('the customer portal is available for customers only', async () => {
    expect(await world.billing.manage(world.accountId, 'https://a.test')).toBeUndefined();
    await world.buy('pro');
    expect(await world.billing.manage(world.accountId, 'https://a.test')).toContain('https://portal.invalid/cus_');
  });
});

describe('a customer deleted at Stripe', () => {
  it('deleting a customer at Stripe ends the subscription, and a new customer can be created', async () => {
    const { customer } = await world.buy('pro');
    world.account.deleteCustomer(customer);
    await world.webhooks.deliver();
    expect(await world.subscription()).toMatchObject({ status: 'inactive' });
    await world.buy('starter');
    expect(await world.customer()).not.toBe(customer);
    expect(await world.subscription()).toMatchObject({ plan: 'starter', status: 'active' });
  });
});
