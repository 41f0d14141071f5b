// Choosing plans with the real library against the fake: what is paid, when it counts, what the store says.

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
  it('is paid in the checkout, and counts when the event has come', async () => {
    const choice = await world.choose('pro');
    expect(choice).toEqual({ kind: 'redirect', url: expect.stringContaining('https://checkout.invalid/') });
    expect(await world.subscription()).toBeUndefined();
    if (choice.kind === 'redirect') world.account.pay(choice.url);
    await world.courier.deliver();
    expect(await world.subscription()).toMatchObject({
      plan: 'pro',
      status: 'active',
      renews: true,
      nextPlan: null,
      provider: 'stripe',
      period: { startsAt: new Date('2026-03-10T00:00:00Z'), endsAt: new Date('2026-04-09T00:00:00Z') },
    });
  });

  it('counts on the way back, before the event', async () => {
    const choice = await world.choose('starter');
    if (choice.kind === 'redirect') world.account.pay(choice.url);
    await world.billing.refresh(world.accountId);
    expect(await world.subscription()).toMatchObject({ plan: 'starter', status: 'active' });
  });

  it('may be free, without any call of Stripe', async () => {
    expect(await world.choose('free')).toEqual({ kind: 'granted', when: 'now' });
    expect(await world.subscription()).toMatchObject({ plan: 'free', status: 'active', provider: 'manual' });
    expect(world.fake.calls).toEqual([]);
  });

  it('makes one customer and leaves one checkout open, however often it is clicked', async () => {
    await Promise.all([world.choose('pro'), world.choose('pro'), world.choose('starter')]);
    expect(world.account.customers.size).toBe(1);
    expect(world.account.sessions.map(({ status }) => status)).toEqual(['expired', 'expired', 'open']);
  });

  it('makes one customer when the answer to the first call is lost', async () => {
    world.fake.faults.push('lost');
    expect(await world.choose('pro')).toMatchObject({ kind: 'redirect' });
    expect(world.fake.calls.filter((call) => call === 'POST /v1/customers')).toHaveLength(2);
    expect(world.account.customers.size).toBe(1);
  });

  it('drops a first payment that hangs when another checkout is opened', async () => {
    const first = await world.choose('pro');
    const hanging = first.kind === 'redirect' ? world.account.pay(first.url, false) : undefined;
    await world.courier.deliver();
    expect(await world.subscription()).toBeUndefined();
    await world.buy('starter');
    expect(hanging?.status).toBe('canceled');
    expect(await world.subscription()).toMatchObject({ plan: 'starter', status: 'active' });
  });

  it('is refused when there is no such plan, account or choice', async () => {
    const pages = { successUrl: 'https://a.test', cancelUrl: 'https://a.test' };
    await expect(world.choose('gold')).rejects.toMatchObject({ code: 'not_found' });
    await expect(world.billing.choosePlan('nobody', 'pro', pages)).rejects.toMatchObject({ code: 'not_found' });
    await world.store.accounts.upsertMarketplaceAccount('rapidapi:x', 'free', 'system');
    await expect(world.billing.choosePlan('rapidapi:x', 'pro', pages)).rejects.toMatchObject({
      code: 'invalid_fields',
    });
  });
});

describe('an upgrade', () => {
  it('counts at once and keeps the period, so that what was used stays used', async () => {
    await world.buy('starter');
    const before = await world.subscription();
    world.account.advance(10);
    expect(await world.choose('business')).toEqual({ kind: 'granted', when: 'now' });
    expect(await world.subscription()).toEqual({ ...before, plan: 'business' });
  });

  it('waits for its invoice when the card is refused', async () => {
    const bought = await world.buy('starter');
    const customer = world.account.customers.get(bought.customer);
    if (customer) customer.card = 'declined';
    const choice = await world.choose('pro');
    expect(choice).toEqual({ kind: 'redirect', url: expect.stringContaining('https://invoice.invalid/in_') });
    expect(await world.subscription()).toMatchObject({ plan: 'starter', status: 'active' });
    world.account.payOwed(bought.customer);
    await world.courier.deliver();
    expect(await world.subscription()).toMatchObject({ plan: 'pro', status: 'active' });
  });

  it('takes a cancellation back, but only when it is paid', async () => {
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

  it('tells the refusal of a card as that', async () => {
    await world.buy('starter');
    world.fake.beforeAnswer = async ({ method, path }) => {
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
  it('counts from the next period', async () => {
    await world.buy('business');
    expect(await world.choose('starter')).toEqual({ kind: 'granted', when: 'next period' });
    expect(await world.subscription()).toMatchObject({ plan: 'business', nextPlan: 'starter', renews: true });
    world.account.advance(31);
    await world.courier.deliver();
    expect(await world.subscription()).toMatchObject({ plan: 'starter', nextPlan: null, status: 'active' });
  });

  it('can be changed, taken back and overtaken by an upgrade or a cancellation', async () => {
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

describe('the free plan while another is paid for', () => {
  it('follows when the paid period is over', async () => {
    await world.buy('pro');
    expect(await world.choose('free')).toEqual({ kind: 'granted', when: 'next period' });
    expect(await world.subscription()).toMatchObject({
      plan: 'pro',
      nextPlan: 'free',
      renews: false,
      status: 'active',
    });
    world.account.advance(31);
    // Not a moment without a plan, even before the event has come.
    expect(await world.subscription()).toMatchObject({ status: 'active' });
    await world.courier.deliver();
    expect(await world.subscription()).toMatchObject({ plan: 'free', provider: 'manual', status: 'active' });
    expect((await world.subscription())?.period.startsAt).toEqual(world.fake.now());
    world.account.advance(70);
    expect(await world.subscription()).toMatchObject({ plan: 'free', status: 'active' });
  });

  it('can be taken back', async () => {
    await world.buy('pro');
    await world.choose('free');
    await world.billing.resume(world.accountId);
    expect(await world.subscription()).toMatchObject({ plan: 'pro', nextPlan: null, renews: true });
    world.account.advance(31);
    await world.courier.deliver();
    expect(await world.subscription()).toMatchObject({ plan: 'pro', status: 'active' });
  });

  it('counts at once when the other is owed and not paid', async () => {
    const bought = await world.buy('pro');
    world.account.setStatus(bought, 'past_due');
    await world.courier.deliver();
    expect(await world.choose('free')).toEqual({ kind: 'granted', when: 'now' });
    expect(await world.subscription()).toMatchObject({ plan: 'free', provider: 'manual', status: 'active' });
    expect(bought.status).toBe('canceled');
  });

  it('is granted after the other has ended, and once', async () => {
    const bought = await world.buy('pro');
    world.account.end(bought);
    expect(await world.choose('free')).toEqual({ kind: 'granted', when: 'now' });
    const free = await world.subscription();
    expect(free).toMatchObject({ plan: 'free', provider: 'manual', status: 'active' });
    world.account.advance(3);
    await world.courier.deliver();
    await world.choose('free');
    expect(await world.subscription()).toEqual(free);
  });

  it('gives way to a paid plan again', async () => {
    await world.buy('pro');
    await world.choose('free');
    world.account.advance(31);
    await world.courier.deliver();
    await world.buy('starter');
    expect(await world.subscription()).toMatchObject({ plan: 'starter', provider: 'stripe', renews: true });
  });
});

describe('cancelling', () => {
  it('leaves the paid period and ends after it', async () => {
    await world.buy('pro');
    await world.billing.cancel(world.accountId);
    expect(await world.subscription()).toMatchObject({ plan: 'pro', status: 'active', renews: false, nextPlan: null });
    world.account.advance(31);
    expect(await world.subscription()).toMatchObject({ status: 'inactive' });
    await world.courier.deliver();
    expect(await world.subscription()).toMatchObject({ plan: 'pro', status: 'inactive', provider: 'stripe' });
    await expect(world.billing.resume(world.accountId)).rejects.toMatchObject({ code: 'subscription_inactive' });
  });

  it('in the portal, by date, is seen and can be taken back', async () => {
    const bought = await world.buy('pro');
    bought.cancelAt = bought.ends;
    world.account.tell(bought);
    await world.courier.deliver();
    expect(await world.subscription()).toMatchObject({ renews: false });
    await world.billing.resume(world.accountId);
    expect(bought.cancelAt).toBeNull();
    expect(await world.subscription()).toMatchObject({ renews: true });
  });

  it('works for a plan that nobody pays for', async () => {
    await world.choose('free');
    await world.billing.cancel(world.accountId);
    expect(await world.subscription()).toMatchObject({ plan: 'free', renews: false });
    await world.billing.resume(world.accountId);
    expect(await world.subscription()).toMatchObject({ plan: 'free', renews: true });
  });
});

describe('what is owed', () => {
  it('makes the account inactive, and active again once it is paid', async () => {
    const bought = await world.buy('pro');
    const customer = world.account.customers.get(bought.customer);
    if (customer) customer.card = 'declined';
    world.account.advance(31);
    await world.courier.deliver();
    expect(await world.subscription()).toMatchObject({ plan: 'pro', status: 'inactive' });
    expect(await world.choose('business')).toEqual({
      kind: 'redirect',
      url: expect.stringContaining('portal.invalid'),
    });
    if (customer) customer.card = 'good';
    world.account.payOwed(bought.customer);
    await world.courier.deliver();
    expect(await world.subscription()).toMatchObject({ plan: 'pro', status: 'active' });
  });

  it.each(['unpaid', 'paused', 'past_due'] as const)('%s is inactive', async (status) => {
    const bought = await world.buy('pro');
    world.account.setStatus(bought, status);
    await world.courier.deliver();
    expect(await world.subscription()).toMatchObject({ status: 'inactive' });
  });

  it('a trial is active', async () => {
    const bought = await world.buy('pro');
    world.account.setStatus(bought, 'trialing');
    await world.courier.deliver();
    expect(await world.subscription()).toMatchObject({ status: 'active' });
  });
});

describe('the portal', () => {
  it('is there for customers', async () => {
    expect(await world.billing.manage(world.accountId, 'https://a.test')).toBeUndefined();
    await world.buy('pro');
    expect(await world.billing.manage(world.accountId, 'https://a.test')).toContain('https://portal.invalid/cus_');
  });
});

describe('a customer deleted at Stripe', () => {
  it('ends what was paid for, and a new one can be made', async () => {
    const { customer } = await world.buy('pro');
    world.account.deleteCustomer(customer);
    await world.courier.deliver();
    expect(await world.subscription()).toMatchObject({ status: 'inactive' });
    await world.buy('starter');
    expect(await world.customer()).not.toBe(customer);
    expect(await world.subscription()).toMatchObject({ plan: 'starter', status: 'active' });
  });
});
