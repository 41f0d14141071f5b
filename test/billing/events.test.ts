// Events from Stripe, which are unreliable: forged, doubled, in any order, late or lost.

import { readFileSync } from 'node:fs';
import path from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { EVENTS } from '../../src/service/billing/stripe-webhook.ts';
import { bodyOf, sign } from './webhook-sender.ts';
import type { FakeEvent } from './fake-account.ts';
import { PLANS_FILE, StripeWorld } from './stripe-world.ts';

let world: StripeWorld;
beforeEach(async () => {
  world = await StripeWorld.create();
});
afterEach(async () => {
  await world.close();
});

const lookups = (): number => world.fake.requests.filter((call) => call === 'GET /v1/subscriptions').length;

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

describe('the signature of an event', () => {
  beforeEach(async () => {
    world.account.pay(await openCheckout('pro'));
  });

  it.each([
    ['made with another secret', { secret: 'whsec_other' }],
    ['that is days old', { ageSeconds: 3 * 86_400 }],
    ['that is just over five minutes old', { ageSeconds: 330 }],
  ])('%s is refused before anything is requested or stored', async (_what, signing) => {
    const before = world.fake.requests.length;
    expect(await world.webhooks.resend(firstEvent(), signing)).toBe(400);
    expect(world.fake.requests).toHaveLength(before);
    expect(await world.subscription()).toBeUndefined();
    // Refusing it has no effect on the genuine event.
    expect(await world.webhooks.deliver()).toEqual([200, 200, 200]);
    expect(await world.subscription()).toMatchObject({ plan: 'pro' });
  });

  it.each([undefined, '', 't=,v1=', 't=1', 'nonsense', 'v1=00,t=x'])(
    'the signature of an event that reads %j is refused',
    async (signature) => {
      await expect(world.billing.receive(bodyOf(firstEvent()), signature)).rejects.toMatchObject({
        code: 'invalid_signature',
      });
    },
  );

  it('an event is refused when a byte of its body was changed', async () => {
    const body = bodyOf(firstEvent());
    const signature = sign(body);
    const other = Buffer.from(body.toString().replace('cus_', 'cuz_'));
    await expect(world.billing.receive(other, signature)).rejects.toMatchObject({ code: 'invalid_signature' });
  });

  it('the signature of an event may be made with either secret while one is being replaced', async () => {
    expect(await world.webhooks.resend(firstEvent(), { secret: 'whsec_new' })).toBe(200);
    expect(await world.subscription()).toMatchObject({ plan: 'pro' });
  });

  it('a thin event is refused although its signature is valid', async () => {
    const body = Buffer.from(JSON.stringify({ id: 'evt_thin', object: 'v2.core.event', type: 'v1.x' }));
    await expect(world.billing.receive(body, sign(body))).rejects.toMatchObject({ code: 'malformed_body' });
  });
});

describe('events', () => {
  it('events that arrive several times are applied once', async () => {
    world.account.pay(await openCheckout('pro'));
    const before = lookups();
    expect(await world.webhooks.deliver({ copies: 3 })).toEqual(Array.from({ length: 9 }, () => 200));
    expect(lookups() - before).toBe(3);
    const audit = await world.store.audit.list({ accountId: world.accountId, count: 50 });
    expect(audit.filter(({ action }) => action === 'subscription.provider')).toHaveLength(1);
  });

  it('events that arrive in parallel lead to one state', async () => {
    world.account.pay(await openCheckout('pro'));
    await world.webhooks.deliver({ copies: 4, inParallel: true });
    expect(await world.subscription()).toMatchObject({ plan: 'pro', status: 'active' });
  });

  it('events that arrive in reverse order lead to the current state', async () => {
    const bought = await world.buy('pro');
    world.account.setStatus(bought, 'past_due');
    world.account.payOpenInvoices(bought.customer);
    await world.choose('business');
    await world.webhooks.deliver({ order: (events) => events.toReversed() });
    expect(await world.subscription()).toMatchObject({ plan: 'business', status: 'active' });
  });

  it('events that are sent again after days change nothing', async () => {
    const bought = await world.buy('pro');
    const old = world.webhooks.delivered.filter(({ type }) => type !== 'customer.subscription.deleted');
    world.account.end(bought);
    await world.webhooks.deliver();
    for (const event of old) expect(await world.webhooks.resend(event)).toBe(200);
    expect(await world.subscription()).toMatchObject({ status: 'inactive' });
  });

  it('events about an old subscription do not affect the new one', async () => {
    const old = await world.buy('pro');
    world.account.end(old);
    const late = firstEvent();
    await world.webhooks.deliver({ delay: () => true });
    await world.billing.refresh(world.accountId);
    world.account.advance(2);
    await world.buy('business');
    expect(await world.webhooks.resend(late)).toBe(200);
    world.account.emitChange(old, 'customer.subscription.deleted');
    await world.webhooks.deliver();
    expect(await world.subscription()).toMatchObject({ plan: 'business', status: 'active' });
  });

  it('events about two paid subscriptions make the newest count and log a warning', async () => {
    const { customer } = await world.buy('pro');
    world.account.advance(1);
    world.account.subscribe(customer, 'price_starter');
    await world.webhooks.deliver();
    expect(await world.subscription()).toMatchObject({ plan: 'starter', status: 'active' });
    expect(world.log).toContainEqual(
      expect.objectContaining({ level: 'warn', message: 'customer pays for more than one subscription' }),
    );
  });

  it('events about an unknown customer or of another type are accepted and ignored', async () => {
    world.account.customers.set('cus_other', { metadata: {}, card: 'good', deleted: false });
    world.account.subscribe('cus_other', 'price_pro');
    world.account.emit('charge.succeeded', { id: 'ch_1', object: 'charge', customer: 'cus_other' });
    expect(await world.webhooks.deliver()).toEqual([200, 200, 200, 200]);
    expect(await world.store.accounts.findByCustomer('cus_other')).toBeUndefined();
  });

  it('find their account even if the store has lost the link to the customer', async () => {
    const bought = await world.buy('pro');
    const { customer } = bought;
    await world.store.accounts.unlinkCustomer(world.accountId, customer, 'system');
    world.account.setStatus(bought, 'unpaid');
    await world.webhooks.deliver();
    expect(await world.customer()).toBe(customer);
    expect(await world.subscription()).toMatchObject({ plan: 'pro', status: 'inactive', provider: 'stripe' });
  });
});

describe('when the API of Stripe fails', () => {
  it.each([[[500, 500, 500]], [[429, 429, 429]], [['refused', 'refused', 'refused']]] as const)(
    'with %j, an event is refused, and accepted when it is sent again',
    async (faults) => {
      world.account.pay(await openCheckout('pro'));
      world.fake.faults.push(...faults);
      expect(await world.webhooks.deliver({ drop: ({ type }) => type !== 'invoice.paid' })).toEqual([503]);
      expect(await world.subscription()).toBeUndefined();
      // After 429 the library doesn't retry, so some faults may be left.
      world.fake.faults.length = 0;
      expect(await world.webhooks.deliver()).toEqual([200]);
      expect(await world.subscription()).toMatchObject({ plan: 'pro', status: 'active' });
    },
  );

  it('once, the request is retried', async () => {
    world.account.pay(await openCheckout('pro'));
    world.fake.faults.push(500);
    expect(await world.webhooks.deliver()).toEqual([200, 200, 200]);
  });

  it('choosing a plan changes nothing, and no error contains the secret key', async () => {
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

describe('a paid price that no plan has', () => {
  it('a paid price without a plan is logged until the plans file has it, and the account stays unchanged', async () => {
    await world.choose('free');
    const { customer } = world.account.pay(await openCheckout('pro'));
    for (const bought of world.account.of(customer)) bought.price = 'price_retired';
    expect(await world.webhooks.deliver()).toEqual([500, 500, 500]);
    expect(await world.subscription()).toMatchObject({ plan: 'free', status: 'active' });
    expect(world.log).toContainEqual({
      level: 'error',
      message: 'no plan has the price of a paid subscription',
      details: { accountId: world.accountId, subscription: expect.any(String), prices: ['price_retired'] },
    });
    const plans = {
      plans: PLANS_FILE.plans.map((plan) => (plan.name === 'pro' ? { ...plan, stripePrice: 'price_retired' } : plan)),
    };
    await world.anotherServer({ plans }).reconcile(new AbortController().signal);
    expect(await world.subscription()).toMatchObject({ plan: 'pro', status: 'active' });
  });

  it('a price without a plan is ignored on a subscription that has ended', async () => {
    const bought = await world.buy('pro');
    bought.price = 'price_retired';
    world.account.end(bought);
    expect(await world.webhooks.deliver()).toEqual([200]);
    expect(await world.subscription()).toMatchObject({ plan: 'pro', status: 'inactive' });
  });
});

describe('two servers that read from Stripe at the same time', () => {
  /** While the first server waits for a response that is already outdated, the other one reads and applies the newer state. */
  async function overtake(change: () => void): Promise<void> {
    const other = world.anotherServer();
    let pending = true;
    world.fake.afterLookup = async ({ path: requested }) => {
      if (!pending || requested !== '/v1/subscriptions') return;
      pending = false;
      change();
      await other.refresh(world.accountId);
    };
    await world.billing.refresh(world.accountId);
    expect(pending).toBe(false);
  }

  it('two servers never go back to the older state', async () => {
    const bought = await world.buy('pro');
    await overtake(() => world.account.setStatus(bought, 'past_due'));
    expect(await world.subscription()).toMatchObject({ status: 'inactive' });
  });

  it('two servers never go back to the older state, even when the newer one changed nothing', async () => {
    const bought = await world.buy('pro');
    world.account.setStatus(bought, 'past_due');
    await overtake(() => world.account.setStatus(bought, 'active'));
    expect(await world.subscription()).toMatchObject({ status: 'active' });
  });
});

describe('reconciliation with Stripe', () => {
  const reconcile = async () => await world.billing.reconcile(new AbortController().signal);

  it('corrects an account whose events were lost', async () => {
    const bought = await world.buy('pro');
    world.account.setStatus(bought, 'unpaid');
    await world.webhooks.deliver({ drop: () => true });
    expect(await world.subscription()).toMatchObject({ status: 'active' });
    expect(await reconcile()).toEqual({ checked: 1, failed: 0 });
    expect(await world.subscription()).toMatchObject({ status: 'inactive' });
    expect(world.log).toEqual([]);
  });

  it('leaves accounts without a paid subscription unchanged', async () => {
    await openCheckout('pro');
    await world.choose('free');
    expect(await reconcile()).toEqual({ checked: 1, failed: 0 });
    expect(await world.subscription()).toMatchObject({ plan: 'free', status: 'active' });
  });

  it('ends no subscription when the secret key belongs to another Stripe account', async () => {
    await world.buy('pro');
    world.account.customers.clear();
    await reconcile();
    expect(await world.subscription()).toMatchObject({ plan: 'pro', status: 'active' });
    expect(world.log.map(({ message }) => message)).toEqual(['customer not found at Stripe; check the secret key']);
    await expect(world.choose('business')).rejects.toMatchObject({ code: 'internal_error' });
    await expect(world.choose('free')).rejects.toThrow('Stripe does not know the customer');
    expect(await world.subscription()).toMatchObject({ plan: 'pro', nextPlan: null, status: 'active' });
  });

  it('stops after five consecutive failures, and continues there the next time', async () => {
    for (let index = 0; index < 7; index += 1) {
      await world.store.accounts.create({ id: `a${index}`, name: 'x' }, 'system');
      await world.store.accounts.linkCustomer(`a${index}`, `cus_a${index}`);
      world.account.customers.set(`cus_a${index}`, { metadata: {}, card: 'good', deleted: false });
    }
    world.fake.beforeResponse = async ({ path: requested }) => {
      if (requested.startsWith('/v1/subscriptions')) world.fake.faults.push('refused');
    };
    expect(await reconcile()).toEqual({ checked: 5, failed: 5 });
    world.fake.beforeResponse = async () => undefined;
    expect(await reconcile()).toEqual({ checked: 2, failed: 0 });
    expect(await reconcile()).toEqual({ checked: 7, failed: 0 });
  });

  it('logs prices that differ from those of the plans', async () => {
    const plans = {
      plans: PLANS_FILE.plans.map((plan) => (plan.name === 'pro' ? { ...plan, stripePrice: 'price_retired' } : plan)),
    };
    await world.anotherServer({ plans }).reconcile(new AbortController().signal);
    expect(world.log).toEqual([
      {
        level: 'error',
        message: 'price at Stripe differs from the plan',
        details: { plan: 'pro', faults: ['the amount is 100, not 2900'] },
      },
    ]);
  });

  it('stops when the server shuts down', async () => {
    await world.buy('pro');
    expect(await world.billing.reconcile(AbortSignal.abort())).toEqual({ checked: 0, failed: 0 });
  });
});

describe('docs/payments.md', () => {
  it('lists all events to enable for the endpoint', () => {
    const page = readFileSync(path.resolve(import.meta.dirname, '../../docs/payments.md'), 'utf8');
    expect([...EVENTS].filter((name) => !page.includes(`\`${name}\``))).toEqual([]);
  });
});
