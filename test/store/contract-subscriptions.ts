import { expect, it } from 'vitest';
import { DAY, DELIVERED, HOUR, LIMIT, START, type World } from './world.ts';

const FIRST_END = new Date('2026-02-28T10:00:00.000Z');
const PERIOD = { startsAt: new Date('2026-02-10T00:00:00.000Z'), endsAt: new Date('2026-03-10T00:00:00.000Z') };
const PAID = { subscription: 'sub_1', plan: 'pro', status: 'active', renews: true, period: PERIOD } as const;

export function subscriptionsContract(world: () => World): void {
  it('subscriptions start with a period of one month', async () => {
    const id = await world().account('free');
    expect(await world().subscription(id)).toEqual({
      plan: 'free',
      nextPlan: null,
      status: 'active',
      renews: true,
      provider: 'manual',
      anchorAt: START,
      period: { startsAt: START, endsAt: FIRST_END },
    });
    await expect(world().store.accounts.subscribe('unknown', 'free', 'now', 'cli:test')).rejects.toMatchObject({
      code: 'not_found',
    });
  });

  it('apply an upgrade immediately and a downgrade from the next period', async () => {
    const { accounts } = world().store;
    const id = await world().account('free');
    world().pass(DAY);
    expect(await accounts.subscribe(id, 'pro', 'now', 'cli:test')).toMatchObject({ plan: 'pro', nextPlan: null });
    expect(await accounts.subscribe(id, 'starter', 'next period', 'cli:test')).toMatchObject({
      plan: 'pro',
      nextPlan: 'starter',
      period: { startsAt: START, endsAt: FIRST_END },
    });
    // Choosing the current plan takes the downgrade back.
    expect(await accounts.subscribe(id, 'pro', 'next period', 'cli:test')).toMatchObject({ nextPlan: null });
    await accounts.subscribe(id, 'starter', 'next period', 'cli:test');
    world().goTo('2026-02-28T09:59:59.999Z');
    expect(await world().subscription(id)).toMatchObject({ plan: 'pro' });
    world().pass(1);
    expect(await world().subscription(id)).toMatchObject({
      plan: 'starter',
      nextPlan: null,
      period: { startsAt: FIRST_END, endsAt: new Date('2026-03-31T10:00:00.000Z') },
    });
  });

  it('end with the period when they are canceled', async () => {
    const { accounts } = world().store;
    const id = await world().account();
    expect(await accounts.setRenews(id, false, 'account:1')).toBe(true);
    expect(await accounts.find(id)).toMatchObject({ state: 'active', subscription: { renews: false } });
    world().goTo(FIRST_END.toISOString());
    expect(await accounts.find(id)).toMatchObject({ state: 'inactive', subscription: { status: 'inactive' } });
    expect(await accounts.setRenews(id, true, 'account:1')).toBe(false);
    world().pass(HOUR);
    expect(await accounts.subscribe(id, 'free', 'now', 'account:1')).toMatchObject({
      status: 'active',
      renews: true,
      period: { startsAt: new Date('2026-02-28T11:00:00.000Z') },
    });
    expect((await world().actions(id)).slice(2)).toEqual([
      'account:1 subscription.canceled',
      'system subscription.lapsed',
      'account:1 subscription.plan',
    ]);
  });

  it('grant no credits twice when an account cancels and subscribes again within a period', async () => {
    const { accounts, ledger } = world().store;
    const id = await world().account();
    const hold = await world().hold(id, { credits: 60 });
    await ledger.reserve(hold);
    await ledger.settle(hold.renderId, DELIVERED);
    for (const plan of ['pro', 'free', 'starter', 'free']) {
      await accounts.setRenews(id, false, 'account:1');
      await accounts.subscribe(id, plan, 'now', 'account:1');
      world().pass(HOUR);
    }
    expect(await world().subscription(id)).toMatchObject({ period: { startsAt: START }, renews: true });
    expect(await world().balance(id)).toEqual({ used: 60, reserved: 0 });
    expect(await ledger.reserve(await world().hold(id, { credits: 41, limit: LIMIT }))).toMatchObject({
      granted: false,
    });
  });

  it('subscriptions start and renew once when two servers do it at the same time', async () => {
    const id = 'both';
    await world().store.accounts.create({ id, name: 'both' }, 'cli:test');
    const [one, two] = [await world().server('there/1'), await world().server('there/2')];
    await Promise.all([
      one.accounts.subscribe(id, 'free', 'now', 'cli:test'),
      two.accounts.subscribe(id, 'free', 'now', 'cli:test'),
    ]);
    world().goTo('2026-03-01T00:00:00Z');
    const [key] = await Promise.all([
      one.accounts.setRenews(id, true, 'cli:test'),
      two.accounts.setRenews(id, true, 'cli:test'),
    ]);
    expect(key).toBe(true);
    const renewals = (await world().actions(id)).filter((action) => action.endsWith('subscription.renewed'));
    expect(renewals).toEqual(['system subscription.renewed']);
  });

  it('subscriptions that are paid through a provider follow its state, with a grace period for late payments', async () => {
    const { accounts } = world().store;
    const id = await world().account();
    world().goTo('2026-02-10T00:00:05Z');
    await accounts.applyProvider(id, PAID, 'stripe');
    expect(await world().subscription(id)).toMatchObject({ plan: 'pro', provider: 'stripe', period: PERIOD });
    world().goTo('2026-03-12T23:59:59Z');
    expect(await accounts.find(id)).toMatchObject({ state: 'active', subscription: { period: PERIOD } });
    // During the grace period the operator can change the plan, but not the provider.
    expect(await accounts.subscribe(id, 'business', 'now', 'cli:test')).toMatchObject({
      plan: 'business',
      provider: 'stripe',
      period: PERIOD,
    });
    world().goTo('2026-03-13T00:00:00Z');
    expect(await accounts.find(id)).toMatchObject({ state: 'inactive' });
    const next = { startsAt: PERIOD.endsAt, endsAt: new Date('2026-04-10T00:00:00.000Z') };
    await accounts.applyProvider(id, { ...PAID, period: next }, 'stripe');
    expect(await accounts.find(id)).toMatchObject({ state: 'active', subscription: { plan: 'pro', period: next } });
  });

  it('subscriptions are not ended by the end of a subscription they replaced', async () => {
    const { accounts } = world().store;
    const id = await world().account();
    await accounts.applyProvider(id, PAID, 'stripe');
    await accounts.applyProvider(id, { ...PAID, subscription: 'sub_2' }, 'stripe');
    await accounts.applyProvider(id, { ...PAID, status: 'inactive' }, 'stripe');
    expect(await accounts.find(id)).toMatchObject({ state: 'active' });
    await accounts.applyProvider(id, { ...PAID, subscription: 'sub_2', status: 'inactive' }, 'stripe');
    expect(await accounts.find(id)).toMatchObject({ state: 'inactive' });
    // On a plan without payment, the provider has no effect any more.
    await accounts.subscribe(id, 'free', 'now', 'account:1');
    await accounts.applyProvider(id, { ...PAID, subscription: 'sub_2', status: 'inactive' }, 'stripe');
    world().goTo('2026-08-01T00:00:00Z');
    expect(await accounts.find(id)).toMatchObject({ state: 'active', subscription: { provider: 'manual' } });
  });

  it('subscriptions stay in their period when the clock jumps ahead by years, also for many requests', async () => {
    const { accounts, ledger } = world().store;
    const id = await world().account();
    await ledger.heartbeat();
    world().goTo('2029-05-05T00:00:00Z');
    await ledger.heartbeat();
    for (let request = 0; request < 3; request += 1) {
      await accounts.setRenews(id, true, 'account:1');
      expect((await world().subscription(id)).period).toEqual({ startsAt: START, endsAt: FIRST_END });
      world().pass(60_000);
      await ledger.heartbeat();
    }
    world().goTo('2026-02-28T10:00:00Z');
    await ledger.heartbeat();
    expect((await world().subscription(id)).period.startsAt).toEqual(FIRST_END);
  });

  it('subscriptions move into the current period after a year without a request, while a server was running', async () => {
    const { accounts, ledger } = world().store;
    const id = await world().account();
    for (let day = 0; day < 365; day += 20) {
      await ledger.heartbeat();
      world().pass(20 * DAY);
    }
    await accounts.setRenews(id, true, 'account:1');
    const { period } = await world().subscription(id);
    expect([period.startsAt <= world().clock(), world().clock() < period.endsAt]).toEqual([true, true]);
  });

  it('subscriptions move into the current period ten minutes after a server was started that was stopped for a year', async () => {
    const { accounts, ledger } = world().store;
    const id = await world().account();
    await ledger.heartbeat();
    world().goTo('2027-03-05T00:00:00Z');
    for (let second = 0; second <= 600; second += 5) {
      await ledger.heartbeat();
      await accounts.setRenews(id, true, 'account:1');
      const { period } = await world().subscription(id);
      expect(period.startsAt.toISOString()).toBe(second < 600 ? START.toISOString() : '2027-02-28T10:00:00.000Z');
      world().pass(5_000);
    }
  });

  it('subscriptions return from a future period when the clock is right again, with what was used before', async () => {
    const { accounts, ledger } = world().store;
    const id = await world().account();
    const hold = await world().hold(id, { credits: 30 });
    await ledger.reserve(hold);
    await ledger.settle(hold.renderId, DELIVERED);
    // No server has stored a time yet, so the wrong clock is trusted.
    world().goTo('2029-05-05T00:00:00Z');
    await accounts.setRenews(id, true, 'account:1');
    const later = await world().account();
    expect((await world().subscription(id)).period.startsAt.getUTCFullYear()).toBe(2029);
    world().goTo('2026-02-01T00:00:00Z');
    expect((await world().subscription(id)).period).toEqual({ startsAt: START, endsAt: FIRST_END });
    expect(await world().balance(id)).toEqual({ used: 30, reserved: 0 });
    await accounts.setRenews(id, true, 'account:1');
    expect(await world().actions(id)).toContain('system subscription.corrected');
    expect((await world().subscription(later)).period).toEqual({
      startsAt: new Date('2026-01-05T00:00:00.000Z'),
      endsAt: new Date('2026-02-05T00:00:00.000Z'),
    });
  });

  it('become active again when they ended under a clock that was ahead', async () => {
    const { accounts } = world().store;
    const id = await world().account();
    await accounts.setRenews(id, false, 'account:1');
    world().goTo('2029-05-05T00:00:00Z');
    expect(await accounts.setRenews(id, true, 'account:1')).toBe(false);
    world().goTo('2026-02-01T00:00:00Z');
    expect(await accounts.find(id)).toMatchObject({ state: 'active', subscription: { renews: false } });
  });

  it('billing periods are not moved by one server whose clock is ahead of the others', async () => {
    const { ledger } = world().store;
    const id = await world().account();
    const now = world().clock();
    for (let beat = 0; beat < 200; beat += 1) {
      world().goTo(new Date(now.getTime() + beat * 5_000).toISOString());
      await ledger.heartbeat();
      world().goTo(new Date(now.getTime() + 1_000 * DAY + beat * 5_000).toISOString());
      await ledger.heartbeat();
    }
    expect((await world().subscription(id)).period.startsAt).toEqual(START);
  });
}
