import { expect, it } from 'vitest';
import { DAY, DELIVERED, LIMIT, type World } from './world.ts';

export function operatorContract(world: () => World): void {
  const use = async (accountId: string, credits: number): Promise<boolean> => {
    const hold = await world().hold(accountId, { credits });
    const { granted } = await world().store.ledger.reserve(hold);
    if (granted) await world().store.ledger.settle(hold.renderId, DELIVERED);
    return granted;
  };

  it('sums renders and sign-ups of all accounts per day, and counts plans', async () => {
    const { operator, usage } = world().store;
    const [one, two] = [await world().account(), await world().account('pro')];
    await use(one, 2);
    await use(two, 3);
    await usage.addRefusals([{ accountId: two, mode: 'live', outcome: 'overloaded', count: 4 }]);
    world().pass(DAY);
    await world().account();
    await use(one, 1);
    const row = { mode: 'live', outcome: 'delivered' };
    expect(await operator.days('2026-01-31', '2026-02-01')).toEqual([
      { ...row, day: '2026-01-31', renders: 2, credits: 5 },
      { ...row, day: '2026-01-31', outcome: 'overloaded', renders: 4, credits: 0 },
      { ...row, day: '2026-02-01', renders: 1, credits: 1 },
    ]);
    expect(await operator.days('2026-02-02', '2026-02-03')).toEqual([]);
    expect(await operator.signUps('2026-01-31', '2026-02-01')).toEqual([
      { day: '2026-01-31', accounts: 2 },
      { day: '2026-02-01', accounts: 1 },
    ]);
    expect(await operator.plans()).toEqual([
      { plan: 'free', provider: 'manual', accounts: 2 },
      { plan: 'pro', provider: 'manual', accounts: 1 },
    ]);
  });

  it('adds credits to the current period only, with the reason in the audit log', async () => {
    const { operator, ledger, audit } = world().store;
    const id = await world().account();
    expect(await use(id, LIMIT)).toBe(true);
    expect(await use(id, 1)).toBe(false);
    expect(await operator.grantCredits(id, 10, 'an outage', 'operator:1')).toBe(10);
    expect(await operator.grantCredits(id, 5, 'a friend', 'operator:1')).toBe(15);
    expect(await use(id, 16)).toBe(false);
    expect(await use(id, 15)).toBe(true);
    const { period } = await world().subscription(id);
    expect(await ledger.balance(id, period, LIMIT)).toEqual({ used: LIMIT + 15, reserved: 0, limit: LIMIT + 15 });
    const [entry] = await audit.list({ accountId: id, action: 'credits.', count: 1 });
    expect(entry).toMatchObject({ actor: 'operator:1', details: { credits: 5, granted: 15, reason: 'a friend' } });
    world().goTo('2026-03-01T10:00:00.000Z');
    expect(await use(id, LIMIT + 1)).toBe(false);
    expect(await operator.grantCredits(id, 1, 'first of the period', 'operator:1')).toBe(1);
    expect(await use(id, LIMIT + 1)).toBe(true);
  });

  it('adds no credits without an active plan', async () => {
    const { operator, accounts } = world().store;
    await accounts.create({ id: 'planless', name: 'planless' }, 'cli:test');
    expect(await operator.grantCredits('planless', 10, 'reason', 'operator:1')).toBeUndefined();
    await expect(operator.grantCredits('unknown', 10, 'reason', 'operator:1')).rejects.toMatchObject({
      code: 'not_found',
    });
  });

  it('keeps all of several grants that are made at the same time', async () => {
    const id = await world().account();
    const servers = await Promise.all(['x', 'y', 'z'].map(async (name) => await world().server(`there/${name}`)));
    await Promise.all(servers.map(async (each) => await each.operator.grantCredits(id, 10, 'reason', 'operator:1')));
    const { period } = await world().subscription(id);
    expect(await world().store.ledger.balance(id, period, LIMIT)).toMatchObject({ limit: LIMIT + 30 });
  });

  it('filters the audit log by action and actor, and accounts by plan and state', async () => {
    const { audit, users, accounts } = world().store;
    const [free, pro] = [await world().account('free'), await world().account('pro')];
    await accounts.setSuspended(pro, true, 'operator:1');
    await accounts.create({ id: 'planless', name: 'planless' }, 'operator:2');
    const actions = async (filter: { action?: string; actor?: string | string[] }): Promise<string[]> =>
      (await audit.list({ ...filter, count: 10 })).map(({ action }) => action);
    expect(await actions({ actor: 'operator:1' })).toEqual(['account.suspended']);
    expect(await actions({ action: 'subscription.' })).toEqual(['subscription.plan', 'subscription.plan']);
    expect(await actions({ action: 'account.', actor: 'operator:2' })).toEqual(['account.created']);
    expect(await actions({ actor: ['operator:2', 'operator:1'] })).toEqual(['account.created', 'account.suspended']);
    expect(await actions({ action: '%' })).toEqual([]);
    const find = async (filter: object): Promise<string[]> => await users.searchAccounts('', { ...filter, count: 10 });
    expect(await find({ plan: 'pro' })).toEqual([pro]);
    expect(await find({ state: 'suspended' })).toEqual([pro]);
    expect(await find({ state: 'active' })).toEqual([free]);
    expect(await find({ state: 'inactive' })).toEqual(['planless']);
    expect(await find({ state: 'active', plan: 'pro' })).toEqual([]);
    const unconfirmed = await users.signUpUnconfirmed('eve@example.com', 'hash');
    expect(await users.searchAccounts('eve@example', { count: 10 })).toEqual([unconfirmed.accountId]);
  });

  it('leaves one entry in the audit log per hour, operator and account whose pages are viewed', async () => {
    const { operator } = world().store;
    const [id, other] = [await world().account(), await world().account()];
    const views = async (accountId: string): Promise<string[]> =>
      (await world().actions(accountId)).filter((entry) => entry.endsWith('account.viewed'));
    for (let minute = 0; minute < 90; minute += 10) {
      await operator.recordView(id, 'operator:1');
      world().pass(10 * 60_000);
    }
    expect(await views(id)).toEqual(['operator:1 account.viewed', 'operator:1 account.viewed']);
    await operator.recordView(id, 'operator:2');
    await operator.recordView(other, 'operator:1');
    expect(await views(id)).toHaveLength(3);
    expect(await views(other)).toEqual(['operator:1 account.viewed']);
  });
}
