import { expect, it } from 'vitest';
import type { World } from './world.ts';

export function accountsContract(world: () => World): void {
  it('accounts are created once, found by id and listed by age, page by page', async () => {
    const { store } = world();
    for (const id of ['c', 'a', 'b']) {
      await store.accounts.create({ id, name: `Name of ${id}` }, 'cli:test');
      world().pass(1);
    }
    await store.accounts.create({ id: 'a', name: 'Another name' }, 'cli:test');
    expect(await store.accounts.count()).toBe(3);
    expect(await store.accounts.find('a')).toEqual({
      id: 'a',
      name: 'Name of a',
      state: 'inactive',
      awaitsApproval: false,
      subscription: undefined,
      createdAt: '2026-01-31T10:00:00.001Z',
    });
    expect(await store.accounts.find('unknown')).toBeUndefined();
    const ids = async (page?: { after?: string; count?: number }): Promise<string[]> =>
      (await store.accounts.list(page)).map(({ id }) => id);
    expect(await ids()).toEqual(['c', 'a', 'b']);
    expect(await ids({ count: 2 })).toEqual(['c', 'a']);
    expect(await ids({ after: 'a', count: 2 })).toEqual(['b']);
  });

  it('accounts are created with a plan in one step, or not at all', async () => {
    const { store, engine } = world();
    await store.accounts.create({ id: 'a', name: 'Ada' }, 'cli:test', 'pro');
    expect(await store.accounts.find('a')).toMatchObject({ state: 'active', subscription: { plan: 'pro' } });
    expect(await world().actions('a')).toEqual(['cli:test account.created', 'cli:test subscription.plan']);
    await store.accounts.create({ id: 'a', name: 'Ada' }, 'cli:test', 'free');
    expect(await store.accounts.find('a')).toMatchObject({ subscription: { plan: 'pro' } });
    await engine.run('alter table subscriptions rename to hidden');
    await expect(store.accounts.create({ id: 'b', name: 'Bob' }, 'cli:test', 'pro')).rejects.toThrow('subscriptions');
    await engine.run('alter table hidden rename to subscriptions');
    expect(await store.accounts.find('b')).toBeUndefined();
  });

  it('accounts are suspended and resumed, whatever their subscription, and each change is recorded once', async () => {
    const { store } = world();
    const id = await world().account();
    expect(await store.accounts.setSuspended(id, true, 'cli:test')).toBe(true);
    expect(await store.accounts.setSuspended(id, true, 'cli:test')).toBe(true);
    expect(await store.accounts.find(id)).toMatchObject({ state: 'suspended', subscription: { status: 'active' } });
    await store.accounts.setSuspended(id, false, 'cli:test');
    expect(await store.accounts.find(id)).toMatchObject({ state: 'active' });
    expect(await store.accounts.setSuspended('unknown', true, 'cli:test')).toBe(false);
    expect((await world().actions(id)).slice(2)).toEqual(['cli:test account.suspended', 'cli:test account.resumed']);
  });

  it('accounts stay linked to their first customer', async () => {
    const { store } = world();
    const id = await world().account();
    expect(await store.accounts.customerOf(id)).toBeUndefined();
    expect(await store.accounts.linkCustomer(id, 'cus_1')).toBe('cus_1');
    expect(await store.accounts.linkCustomer(id, 'cus_2')).toBe('cus_1');
    expect(await store.accounts.customerOf(id)).toBe('cus_1');
    expect(await store.accounts.findByCustomer('cus_1')).toBe(id);
    expect(await store.accounts.findByCustomer('cus_2')).toBeUndefined();
  });

  it('the store reports the plans in use now and from the next period, but not those of ended subscriptions', async () => {
    const { store } = world();
    await world().account('free');
    const pro = await world().account('pro');
    await store.accounts.subscribe(pro, 'starter', 'next period', 'cli:test');
    const ending = await world().account('business');
    await store.accounts.setRenews(ending, false, 'cli:test');
    expect(await store.accounts.plansInUse()).toEqual(['business', 'free', 'pro', 'starter']);
    world().goTo('2026-03-01T00:00:00Z');
    await store.accounts.setRenews(ending, true, 'cli:test');
    expect(await store.accounts.plansInUse()).toEqual(['free', 'pro', 'starter']);
  });

  it('accounts of a marketplace are created with the first request, once, however many arrive together', async () => {
    const servers = await Promise.all(['x', 'y', 'z'].map(async (name) => await world().server(`there/${name}`)));
    const holders = await Promise.all(
      [...servers, ...servers].map(
        async ({ accounts }) => await accounts.upsertMarketplaceAccount('rapidapi:ann', 'free', 'marketplace:rapidapi'),
      ),
    );
    expect(new Set(holders.map((holder) => JSON.stringify(holder))).size).toBe(1);
    expect(holders[0]).toMatchObject({ suspended: false, subscription: { plan: 'free', provider: 'marketplace' } });
    expect(await world().actions('rapidapi:ann')).toEqual([
      'marketplace:rapidapi account.created',
      'marketplace:rapidapi subscription.plan',
    ]);
  });

  it('accounts of a marketplace get the plan it names, immediately and in the same period', async () => {
    const { accounts } = world().store;
    const before = await accounts.upsertMarketplaceAccount('m:1', 'pro', 'marketplace:m');
    world().pass(1_000);
    const after = await accounts.upsertMarketplaceAccount('m:1', 'free', 'marketplace:m');
    expect(after.subscription).toEqual({ ...before.subscription, plan: 'free' });
    await accounts.setSuspended('m:1', true, 'cli:test');
    expect(await accounts.upsertMarketplaceAccount('m:1', 'free', 'marketplace:m')).toMatchObject({ suspended: true });
    // A local cancellation has no effect: every request from the marketplace confirms the subscription.
    await accounts.setRenews('m:1', false, 'cli:test');
    expect(await accounts.upsertMarketplaceAccount('m:1', 'free', 'marketplace:m')).toMatchObject({
      subscription: { renews: true, status: 'active' },
    });
    world().goTo('2026-06-15T00:00:00Z');
    expect((await accounts.upsertMarketplaceAccount('m:1', 'free', 'marketplace:m')).subscription?.period).toEqual({
      startsAt: new Date('2026-05-31T10:00:00Z'),
      endsAt: new Date('2026-06-30T10:00:00Z'),
    });
  });
}
