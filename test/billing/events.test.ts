// Events of Stripe as they really come: forged, twice, in any order, late, never; and what becomes of the account.

import { readFileSync } from 'node:fs';
import path from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { EVENTS } from '../../src/billing/stripe-webhook.ts';
import { bodyOf, sign } from './courier.ts';
import type { FakeEvent } from './fake-account.ts';
import { PLANS_FILE, StripeWorld } from './stripe-world.ts';

let world: StripeWorld;
beforeEach(async () => {
  world = await StripeWorld.create();
});
afterEach(async () => {
  await world.close();
});

const lookups = (): number => world.fake.calls.filter((call) => call === 'GET /v1/subscriptions').length;

async function openCheckout(plan: string): Promise<string> {
  const choice = await world.choose(plan);
  if (choice.kind !== 'redirect') throw new Error('no checkout');
  return choice.url;
}

function firstEvent(): FakeEvent {
  const [event] = world.account.events;
  if (event === undefined) throw new Error('no event');
  return event;
}

describe('a signature', () => {
  beforeEach(async () => {
    world.account.pay(await openCheckout('pro'));
  });

  it.each([
    ['of another secret', { secret: 'whsec_other' }],
    ['from days ago', { ageSeconds: 3 * 86_400 }],
    ['just over five minutes old', { ageSeconds: 330 }],
  ])('%s is refused, and nothing is asked or stored', async (_what, signing) => {
    const before = world.fake.calls.length;
    expect(await world.courier.resend(firstEvent(), signing)).toBe(400);
    expect(world.fake.calls).toHaveLength(before);
    expect(await world.subscription()).toBeUndefined();
    // Refusing leaves no trace: the genuine one is still taken.
    expect(await world.courier.deliver()).toEqual([200, 200, 200]);
    expect(await world.subscription()).toMatchObject({ plan: 'pro' });
  });

  it.each([undefined, '', 't=,v1=', 't=1', 'nonsense', 'v1=00,t=x'])('%j is refused', async (signature) => {
    await expect(world.billing.receive(bodyOf(firstEvent()), signature)).rejects.toMatchObject({
      code: 'invalid_signature',
    });
  });

  it('is of the bytes: one changed byte is refused', async () => {
    const body = bodyOf(firstEvent());
    const signature = sign(body);
    const other = Buffer.from(body.toString().replace('cus_', 'cuz_'));
    await expect(world.billing.receive(other, signature)).rejects.toMatchObject({ code: 'invalid_signature' });
  });

  it('may be of either secret while one is replaced', async () => {
    expect(await world.courier.resend(firstEvent(), { secret: 'whsec_new' })).toBe(200);
    expect(await world.subscription()).toMatchObject({ plan: 'pro' });
  });

  it('does not make an event of another kind readable', async () => {
    const body = Buffer.from(JSON.stringify({ id: 'evt_thin', object: 'v2.core.event', type: 'v1.x' }));
    await expect(world.billing.receive(body, sign(body))).rejects.toMatchObject({ code: 'malformed_body' });
  });
});

describe('events', () => {
  it('that come twice are taken once', async () => {
    world.account.pay(await openCheckout('pro'));
    const before = lookups();
    expect(await world.courier.deliver({ copies: 3 })).toEqual(Array.from({ length: 9 }, () => 200));
    expect(lookups() - before).toBe(3);
    const audit = await world.store.audit.list({ accountId: world.accountId, count: 50 });
    expect(audit.filter(({ action }) => action === 'subscription.provider')).toHaveLength(1);
  });

  it('that come side by side end in one state', async () => {
    world.account.pay(await openCheckout('pro'));
    await world.courier.deliver({ copies: 4, atOnce: true });
    expect(await world.subscription()).toMatchObject({ plan: 'pro', status: 'active' });
  });

  it('that come backwards end in the present state', async () => {
    const bought = await world.buy('pro');
    world.account.setStatus(bought, 'past_due');
    world.account.payOwed(bought.customer);
    await world.choose('business');
    await world.courier.deliver({ order: (events) => events.toReversed() });
    expect(await world.subscription()).toMatchObject({ plan: 'business', status: 'active' });
  });

  it('sent again by hand after days change nothing', async () => {
    const bought = await world.buy('pro');
    const old = world.courier.delivered.filter(({ type }) => type !== 'customer.subscription.deleted');
    world.account.end(bought);
    await world.courier.deliver();
    for (const event of old) expect(await world.courier.resend(event)).toBe(200);
    expect(await world.subscription()).toMatchObject({ status: 'inactive' });
  });

  it('about an old subscription leave the new one alone', async () => {
    const old = await world.buy('pro');
    world.account.end(old);
    const late = firstEvent();
    await world.courier.deliver({ delay: () => true });
    await world.billing.refresh(world.accountId);
    world.account.advance(2);
    await world.buy('business');
    expect(await world.courier.resend(late)).toBe(200);
    world.account.tell(old, 'customer.subscription.deleted');
    await world.courier.deliver();
    expect(await world.subscription()).toMatchObject({ plan: 'business', status: 'active' });
  });

  it('about two that are paid for: the newest counts, and the operator is told', async () => {
    const { customer } = await world.buy('pro');
    world.account.advance(1);
    world.account.subscribe(customer, 'price_starter');
    await world.courier.deliver();
    expect(await world.subscription()).toMatchObject({ plan: 'starter', status: 'active' });
    expect(world.log).toContainEqual(
      expect.objectContaining({ level: 'warn', message: 'a customer pays for more than one subscription' }),
    );
  });

  it('about nobody we know, or about nothing that matters, are taken and forgotten', async () => {
    world.account.customers.set('cus_other', { metadata: {}, card: 'good', deleted: false });
    world.account.subscribe('cus_other', 'price_pro');
    world.account.emit('charge.succeeded', { id: 'ch_1', object: 'charge', customer: 'cus_other' });
    expect(await world.courier.deliver()).toEqual([200, 200, 200, 200]);
    expect(await world.store.accounts.findByCustomer('cus_other')).toBeUndefined();
  });

  it('find their account although the store has lost the customer', async () => {
    const bought = await world.buy('pro');
    const { customer } = bought;
    await world.store.accounts.unlinkCustomer(world.accountId, customer, 'system');
    world.account.setStatus(bought, 'unpaid');
    await world.courier.deliver();
    expect(await world.customer()).toBe(customer);
    expect(await world.subscription()).toMatchObject({ plan: 'pro', status: 'inactive', provider: 'stripe' });
  });
});

describe('when Stripe fails', () => {
  it.each([[[500, 500, 500]], [[429, 429, 429]], [['refused', 'refused', 'refused']]] as const)(
    '%j, the event is not taken, and is when it comes again',
    async (faults) => {
      world.account.pay(await openCheckout('pro'));
      world.fake.faults.push(...faults);
      expect(await world.courier.deliver({ drop: ({ type }) => type !== 'invoice.paid' })).toEqual([503]);
      expect(await world.subscription()).toBeUndefined();
      // Too many calls is not answered by calling again.
      world.fake.faults.length = 0;
      expect(await world.courier.deliver()).toEqual([200]);
      expect(await world.subscription()).toMatchObject({ plan: 'pro', status: 'active' });
    },
  );

  it('once, it is asked again', async () => {
    world.account.pay(await openCheckout('pro'));
    world.fake.faults.push(500);
    expect(await world.courier.deliver()).toEqual([200, 200, 200]);
  });

  it('a choice fails without a trace, and the secret key is in no error', async () => {
    const wrong = world.anotherServer({ secretKey: 'sk_test_wrongwrongwrong' });
    const pages = { successUrl: 'https://a.test', cancelUrl: 'https://a.test' };
    const error: unknown = await wrong.choosePlan(world.accountId, 'pro', pages).catch((reason: unknown) => reason);
    expect(error).toMatchObject({ code: 'internal_error' });
    const cause = error instanceof Error && error.cause instanceof Error ? error.cause : new Error('none');
    expect(cause.message).toContain('Invalid API Key provided');
    expect(JSON.stringify([error, cause, cause.message, cause.stack])).not.toContain('wrongwrong');
    expect(await world.subscription()).toBeUndefined();
  });
});

describe('a price that no plan has', () => {
  it('is told to the operator until the plans have it; the account stays as it was', async () => {
    await world.choose('free');
    const { customer } = world.account.pay(await openCheckout('pro'));
    for (const bought of world.account.of(customer)) bought.price = 'price_retired';
    expect(await world.courier.deliver()).toEqual([500, 500, 500]);
    expect(await world.subscription()).toMatchObject({ plan: 'free', status: 'active' });
    expect(world.log).toContainEqual({
      level: 'error',
      message: 'a subscription is paid for at a price that no plan has',
      details: { accountId: world.accountId, subscription: expect.any(String), prices: ['price_retired'] },
    });
    const plans = {
      plans: PLANS_FILE.plans.map((plan) => (plan.name === 'pro' ? { ...plan, stripePrice: 'price_retired' } : plan)),
    };
    await world.anotherServer({ plans }).reconcile(new AbortController().signal);
    expect(await world.subscription()).toMatchObject({ plan: 'pro', status: 'active' });
  });

  it('does no harm on a subscription that is over', async () => {
    const bought = await world.buy('pro');
    bought.price = 'price_retired';
    world.account.end(bought);
    expect(await world.courier.deliver()).toEqual([200]);
    expect(await world.subscription()).toMatchObject({ plan: 'pro', status: 'inactive' });
  });
});

describe('two servers that ask at the same time', () => {
  /** While the first waits for an answer that is already out of date, the other gets and applies the present one. */
  async function overtake(change: () => void): Promise<void> {
    const other = world.anotherServer();
    let pending = true;
    world.fake.afterLookup = async ({ path: asked }) => {
      if (!pending || asked !== '/v1/subscriptions') return;
      pending = false;
      change();
      await other.refresh(world.accountId);
    };
    await world.billing.refresh(world.accountId);
    expect(pending).toBe(false);
  }

  it('never go back to the older answer', async () => {
    const bought = await world.buy('pro');
    await overtake(() => world.account.setStatus(bought, 'past_due'));
    expect(await world.subscription()).toMatchObject({ status: 'inactive' });
  });

  it('not even when the newer one changed nothing', async () => {
    const bought = await world.buy('pro');
    world.account.setStatus(bought, 'past_due');
    await overtake(() => world.account.setStatus(bought, 'active'));
    expect(await world.subscription()).toMatchObject({ status: 'active' });
  });
});

describe('comparing with Stripe', () => {
  const reconcile = async () => await world.billing.reconcile(new AbortController().signal);

  it('mends what lost events left behind', async () => {
    const bought = await world.buy('pro');
    world.account.setStatus(bought, 'unpaid');
    await world.courier.deliver({ drop: () => true });
    expect(await world.subscription()).toMatchObject({ status: 'active' });
    expect(await reconcile()).toEqual({ checked: 1, failed: 0 });
    expect(await world.subscription()).toMatchObject({ status: 'inactive' });
    expect(world.log).toEqual([]);
  });

  it('leaves accounts alone that pay for nothing', async () => {
    await openCheckout('pro');
    await world.choose('free');
    expect(await reconcile()).toEqual({ checked: 1, failed: 0 });
    expect(await world.subscription()).toMatchObject({ plan: 'free', status: 'active' });
  });

  it('ends nothing when the key is that of another account, where nobody is known', async () => {
    await world.buy('pro');
    world.account.customers.clear();
    await reconcile();
    expect(await world.subscription()).toMatchObject({ plan: 'pro', status: 'active' });
    expect(world.log.map(({ message }) => message)).toEqual([
      'Stripe does not know a customer: is it the right secret key?',
    ]);
    await expect(world.choose('business')).rejects.toMatchObject({ code: 'internal_error' });
    await expect(world.choose('free')).rejects.toThrow('a customer whom Stripe does not know');
    expect(await world.subscription()).toMatchObject({ plan: 'pro', nextPlan: null, status: 'active' });
  });

  it('gives up after some failures in a row, and goes on there the next time', async () => {
    for (let index = 0; index < 7; index += 1) {
      await world.store.accounts.create({ id: `a${index}`, name: 'x' }, 'system');
      await world.store.accounts.linkCustomer(`a${index}`, `cus_a${index}`);
      world.account.customers.set(`cus_a${index}`, { metadata: {}, card: 'good', deleted: false });
    }
    world.fake.beforeAnswer = async ({ path: asked }) => {
      if (asked.startsWith('/v1/subscriptions')) world.fake.faults.push('refused');
    };
    expect(await reconcile()).toEqual({ checked: 5, failed: 5 });
    world.fake.beforeAnswer = async () => undefined;
    expect(await reconcile()).toEqual({ checked: 2, failed: 0 });
    expect(await reconcile()).toEqual({ checked: 7, failed: 0 });
  });

  it('tells of prices that are not those of the plans', async () => {
    const plans = {
      plans: PLANS_FILE.plans.map((plan) => (plan.name === 'pro' ? { ...plan, stripePrice: 'price_retired' } : plan)),
    };
    await world.anotherServer({ plans }).reconcile(new AbortController().signal);
    expect(world.log).toEqual([
      {
        level: 'error',
        message: 'the price at Stripe is not that of the plan',
        details: { plan: 'pro', faults: ['it is 100, the plan says 2900'] },
      },
    ]);
  });

  it('stops when the server stops', async () => {
    await world.buy('pro');
    expect(await world.billing.reconcile(AbortSignal.abort())).toEqual({ checked: 0, failed: 0 });
  });
});

describe('docs/payments.md', () => {
  it('lists the events that an endpoint has to send', () => {
    const page = readFileSync(path.resolve(import.meta.dirname, '../../docs/payments.md'), 'utf8');
    expect([...EVENTS].filter((name) => !page.includes(`\`${name}\``))).toEqual([]);
  });
});
