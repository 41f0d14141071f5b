// Random histories of a subscription, with events shuffled, doubled, delayed and dropped: in the end the store must match
// Stripe. The expected state is read from the fake itself, not through the code under test.

import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { randomCases } from '../random-cases.ts';
import type { FakeEvent, FakeSubscription } from './fake-account.ts';
import { StripeWorld } from './stripe-world.ts';

const PLAN_OF: Readonly<Record<string, string>> = {
  price_starter: 'starter',
  price_pro: 'pro',
  price_business: 'business',
};

type Step =
  | { readonly do: 'choose'; readonly plan: string; readonly pay: boolean }
  | { readonly do: 'cancel' | 'resume' | 'pay open invoices' | 'end' | 'second subscription' | 'portal cancel' }
  | { readonly do: 'card'; readonly card: 'good' | 'declined' }
  | { readonly do: 'wait'; readonly days: number }
  | { readonly do: 'deliver'; readonly seed: number; readonly copies: number; readonly inParallel: boolean };

const STEP: fc.Arbitrary<Step> = fc.oneof(
  fc.record({
    do: fc.constant('choose' as const),
    plan: fc.constantFrom('starter', 'pro', 'business', 'free'),
    pay: fc.boolean(),
  }),
  fc.record({
    do: fc.constantFrom('cancel', 'resume', 'pay open invoices', 'end', 'second subscription', 'portal cancel'),
  }),
  fc.record({ do: fc.constant('card' as const), card: fc.constantFrom('good', 'declined') }),
  fc.record({ do: fc.constant('wait' as const), days: fc.integer({ min: 1, max: 40 }) }),
  fc.record({
    do: fc.constant('deliver' as const),
    seed: fc.nat(),
    copies: fc.integer({ min: 1, max: 2 }),
    inParallel: fc.boolean(),
  }),
);

/** A seeded generator, so that a failing case can be repeated. */
function generator(seed: number): () => number {
  let state = seed % 2_147_483_647 || 1;
  return () => {
    state = (state * 48_271) % 2_147_483_647;
    return state / 2_147_483_647;
  };
}

function shuffled(events: FakeEvent[], random: () => number): FakeEvent[] {
  return events
    .map((event) => ({ event, at: random() }))
    .toSorted((a, b) => a.at - b.at)
    .map(({ event }) => event);
}

async function act(world: StripeWorld, step: Step): Promise<void> {
  const customer = await world.store.accounts.customerOf(world.accountId);
  const current =
    customer === undefined ? [] : world.account.of(customer).filter(({ status }) => status !== 'canceled');
  const newest = current.at(-1);
  if (step.do === 'choose') {
    const choice = await world.choose(step.plan);
    if (choice.kind === 'redirect' && choice.url.includes('checkout') && step.pay) world.account.pay(choice.url);
  } else if (step.do === 'cancel' || step.do === 'resume') {
    await world.billing[step.do](world.accountId).catch((error: { code?: string }) => {
      if (error.code !== 'subscription_inactive') throw error;
    });
  } else if (step.do === 'card') {
    const holder = world.account.customers.get(customer ?? '');
    if (holder !== undefined) holder.card = step.card;
  } else if (step.do === 'wait') {
    world.account.advance(step.days);
  } else if (step.do === 'deliver') {
    const random = generator(step.seed);
    const lost = new Set(world.account.events.filter(() => random() < 0.3).map(({ id }) => id));
    const late = new Set(world.account.events.filter(() => random() < 0.3).map(({ id }) => id));
    const statuses = await world.webhooks.deliver({
      order: (events) => shuffled(events, random),
      copies: step.copies,
      inParallel: step.inParallel,
      drop: ({ id }) => lost.has(id),
      delay: ({ id }) => late.has(id),
    });
    expect(new Set(statuses)).toEqual(new Set(statuses.length > 0 ? [200] : []));
  } else if (customer !== undefined) {
    if (step.do === 'pay open invoices') world.account.payOpenInvoices(customer);
    if (step.do === 'end' && newest) world.account.end(newest);
    if (step.do === 'second subscription') world.account.subscribe(customer, 'price_starter');
    if (step.do === 'portal cancel' && newest && newest.schedule === null) {
      newest.cancelAt = newest.ends;
      world.account.emitChange(newest);
    }
  }
  world.account.now += 1;
}

/** Compares the store with the fake. */
async function expectMatch(world: StripeWorld): Promise<void> {
  const customer = await world.store.accounts.customerOf(world.accountId);
  const all: FakeSubscription[] = customer === undefined ? [] : world.account.of(customer);
  const paid = all.findLast(({ status }) => status === 'active');
  const found = await world.subscription();
  if (paid === undefined) {
    const newest = all.findLast(({ status }) => status !== 'incomplete');
    const followed = newest?.status === 'canceled' && newest.metadata['storybar_followed_by'] === 'free';
    if (followed) expect(found).toMatchObject({ plan: 'free', provider: 'manual' });
    else if (found?.provider === 'stripe') expect(found.status).toBe('inactive');
    else if (found !== undefined) expect(found).toMatchObject({ plan: 'free', provider: 'manual' });
    return;
  }
  expect(found).toMatchObject({
    plan: PLAN_OF[paid.price],
    status: 'active',
    provider: 'stripe',
    renews: paid.cancelAt === null,
    period: { startsAt: new Date(paid.starts * 1_000), endsAt: new Date(paid.ends * 1_000) },
  });
}

async function run(steps: readonly Step[], finish: (world: StripeWorld) => Promise<void>): Promise<void> {
  const world = await StripeWorld.create();
  try {
    for (const step of steps) await act(world, step);
    await finish(world);
    await expectMatch(world);
  } finally {
    await world.close();
  }
}

const histories = fc.array(STEP, { minLength: 3, maxLength: 14 });
const OPTIONS = { seed: 20_261_118, numRuns: randomCases({ usually: 20, all: 60 }), endOnFailure: true };

describe('any history of a subscription', () => {
  it('any history of a subscription ends in the state at Stripe after the last event', async () => {
    expect.hasAssertions();
    await fc.assert(
      fc.asyncProperty(histories, fc.nat(), async (steps, seed) => {
        await run(steps, async (world) => {
          // A last change happens, and its event arrives among all the late ones.
          const customer = await world.store.accounts.customerOf(world.accountId);
          const last = customer === undefined ? undefined : world.account.of(customer).at(-1);
          if (last !== undefined) world.account.emitChange(last);
          await world.webhooks.deliver({ order: (events) => shuffled(events, generator(seed)), copies: 2 });
        });
      }),
      OPTIONS,
    );
  });

  it('any history of a subscription ends in the state at Stripe after a reconciliation, even if every event is lost', async () => {
    await fc.assert(
      fc.asyncProperty(histories, async (steps) => {
        await run(
          steps.filter((step) => step.do !== 'deliver'),
          async (world) => {
            const { failed } = await world.billing.reconcile(new AbortController().signal);
            expect(failed).toBe(0);
          },
        );
      }),
      OPTIONS,
    );
  });
});
