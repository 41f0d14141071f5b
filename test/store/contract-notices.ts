import { randomUUID } from 'node:crypto';
import { expect, it } from 'vitest';
import type { CreditLevel, CreditNotice } from '../../src/service/store/ledger/credit-notices.ts';
import { insertRow } from '../../src/service/store/engine.ts';
import { DELIVERED, type World } from './world.ts';

const MINUTE = 60_000;
const level = (percent: number): CreditLevel => ({
  percent,
  plans: [
    { name: 'free', credits: 100 },
    { name: 'pro', credits: 10_000 },
  ],
});

export function noticesContract(world: () => World): void {
  const member = async (plan = 'free'): Promise<{ id: string; accountId: string; email: string }> => {
    const email = `${randomUUID()}@example.com`;
    const user = await world().store.users.signUp(email, 'hash');
    if (user === undefined) throw new Error('the address is taken');
    await world().store.accounts.subscribe(user.accountId, plan, 'now', 'cli:test');
    return { ...user, email };
  };
  const use = async (accountId: string, credits: number): Promise<void> => {
    const hold = await world().hold(accountId, { credits });
    await world().store.ledger.reserve(hold);
    await world().store.ledger.settle(hold.renderId, DELIVERED);
  };
  const due = async (percent: number): Promise<CreditNotice[]> =>
    await world().store.creditNotices.due(level(percent), 10);

  it('notices are due for the users of an account that has reached the level of its plan', async () => {
    const [ann, bob] = [await member(), await member('pro')];
    await use(ann.accountId, 79);
    await use(bob.accountId, 80);
    expect(await due(80)).toEqual([]);
    await use(ann.accountId, 1);
    const { period } = await world().subscription(ann.accountId);
    expect(await due(80)).toEqual([
      {
        userId: ann.id,
        email: ann.email,
        accountId: ann.accountId,
        periodStartsAt: period.startsAt.toISOString(),
        periodEndsAt: period.endsAt.toISOString(),
        percent: 80,
        used: 80,
        credits: 100,
      },
    ]);
    expect(await due(100)).toEqual([]);
  });

  it('notices are not due for an unconfirmed address, a plan without a level or a period that is over', async () => {
    const unconfirmed = await world().store.users.signUpUnconfirmed('eve@example.com', 'hash');
    await world().store.accounts.subscribe(unconfirmed.accountId, 'free', 'now', 'cli:test');
    await use(unconfirmed.accountId, 100);
    const other = await member('starter');
    await use(other.accountId, 100);
    expect(await due(80)).toEqual([]);
    const ann = await member();
    await use(ann.accountId, 100);
    expect(await due(80)).toHaveLength(1);
    world().goTo('2026-03-01T10:00:00.000Z');
    expect(await due(80)).toEqual([]);
  });

  it('notices can be claimed by one of several servers, and again only when that one did not send it', async () => {
    const ann = await member();
    await use(ann.accountId, 85);
    const [notice] = await due(80);
    if (notice === undefined) throw new Error('nothing is due');
    const servers = await Promise.all(['x', 'y', 'z'].map(async (name) => await world().server(`there/${name}`)));
    const claim = async (): Promise<number> => {
      const claims = await Promise.all(servers.map(async ({ creditNotices }) => await creditNotices.claim(notice)));
      return claims.filter(Boolean).length;
    };
    expect(await claim()).toBe(1);
    expect(await claim()).toBe(0);
    expect(await due(80)).toEqual([]);
    world().pass(11 * MINUTE);
    expect(await due(80)).toHaveLength(1);
    expect(await claim()).toBe(1);
    await world().store.creditNotices.markSent(notice);
    world().pass(60 * MINUTE);
    expect(await due(80)).toEqual([]);
    expect(await claim()).toBe(0);
  });

  it('notices about a lower level are not due after one about a higher level, and are due again in the next period', async () => {
    const ann = await member();
    await use(ann.accountId, 100);
    const [notice] = await due(100);
    if (notice === undefined) throw new Error('nothing is due');
    await world().store.creditNotices.claim(notice);
    await world().store.creditNotices.markSent(notice);
    expect(await due(80)).toEqual([]);
    world().goTo('2026-03-01T10:00:00.000Z');
    await world().store.accounts.setRenews(ann.accountId, true, 'cli:test');
    await use(ann.accountId, 90);
    expect(await due(80)).toMatchObject([{ userId: ann.id, used: 90 }]);
  });

  it('notices are due again once the period has more credits, by an upgrade or a grant, but not with fewer', async () => {
    const ann = await member();
    const { creditNotices, operator, accounts } = world().store;
    const send = async (percent: number): Promise<number[]> => {
      const notices = await due(percent);
      for (const notice of notices) {
        expect(await creditNotices.claim(notice)).toBe(true);
        expect(await creditNotices.claim(notice)).toBe(false);
        await creditNotices.markSent(notice);
      }
      return notices.map(({ credits }) => credits);
    };
    await use(ann.accountId, 100);
    expect([await send(100), await send(80)]).toEqual([[100], []]);
    await operator.grantCredits(ann.accountId, 25, 'sorry', 'cli:test');
    expect([await send(100), await send(80), await send(80)]).toEqual([[], [125], []]);
    await world().engine.run('update periods set used = 8000');
    await accounts.subscribe(ann.accountId, 'pro', 'now', 'cli:test');
    expect(await send(80)).toEqual([]);
    await world().engine.run('update periods set used = 8020');
    expect([await send(100), await send(80), await send(80)]).toEqual([[], [10_025], []]);
    await accounts.subscribe(ann.accountId, 'free', 'now', 'cli:test');
    expect(await send(80)).toEqual([]);
  });

  it('notices that a server without this column has sent are not sent again', async () => {
    const ann = await member();
    await use(ann.accountId, 85);
    const [notice] = await due(80);
    if (notice === undefined) throw new Error('nothing is due');
    const at = world().clock().toISOString();
    await insertRow(world().engine, 'credit_notices', {
      userId: ann.id,
      periodStartsAt: notice.periodStartsAt,
      percent: 80,
      claimedAt: at,
      sentAt: at,
    });
    expect(await due(80)).toEqual([]);
    expect(await world().store.creditNotices.claim(notice)).toBe(false);
  });
}

export function usageDetailsContract(world: () => World): void {
  it('usage is counted per day, key, type and outcome of one account', async () => {
    const { ledger, usage } = world().store;
    const [mine, other] = [await world().account(), await world().account()];
    const render = async (
      accountId: string,
      changes: Parameters<World['hold']>[1],
      isDelivered = true,
    ): Promise<void> => {
      const hold = await world().hold(accountId, changes);
      await ledger.reserve(hold);
      if (isDelivered) await ledger.settle(hold.renderId, DELIVERED);
      else await ledger.release(hold.renderId, { outcome: 'deadline_exceeded', durationMs: undefined });
    };
    await render(mine, { keyId: 'k1', kind: 'image' });
    await render(mine, { keyId: 'k1', kind: 'image' });
    await render(mine, { keyId: 'k1', kind: 'video', credits: 4 });
    await render(mine, { keyId: 'k1', kind: 'video', credits: 4 }, false);
    await render(mine, { keyId: 'k2', kind: 'overlay', mode: 'test' });
    await render(other, { keyId: 'k3' });
    await ledger.reserve(await world().hold(mine, { keyId: 'k1' }));
    world().pass(24 * 60 * MINUTE);
    await render(mine, { keyId: undefined });
    const row = { day: '2026-01-31', keyId: 'k1', mode: 'live', outcome: 'delivered' };
    const expected = [
      { ...row, kind: 'image', renders: 2, credits: 2 },
      { ...row, kind: 'video', outcome: 'deadline_exceeded', renders: 1, credits: 0 },
      { ...row, kind: 'video', renders: 1, credits: 4 },
      { ...row, keyId: 'k2', kind: 'overlay', mode: 'test', renders: 1, credits: 0 },
      { ...row, day: '2026-02-01', keyId: null, kind: 'image', renders: 1, credits: 1 },
    ];
    const details = await usage.details(mine, '2026-01-31', '2026-02-01');
    expect(details).toEqual(expect.arrayContaining(expected));
    expect(details).toHaveLength(expected.length);
    expect(await usage.details(mine, '2026-02-01', '2026-02-01')).toEqual(expected.slice(4));
  });

  it('the usage of a past day is stored once by several servers, and outlives the single renders', async () => {
    const { ledger, usage } = world().store;
    const mine = await world().account();
    const render = async (): Promise<void> => {
      const hold = await world().hold(mine, { keyId: 'k1' });
      await ledger.reserve(hold);
      await ledger.settle(hold.renderId, DELIVERED);
    };
    const days = async (): Promise<string[]> =>
      (await world().engine.all('select day from usage_details order by day')).map((row) => String(row['day']));
    await render();
    expect(await usage.details(mine, '2026-01-30', '2026-01-31')).toMatchObject([{ renders: 1 }]);
    await render();
    expect(await usage.details(mine, '2026-01-30', '2026-01-31')).toMatchObject([{ renders: 2 }]);
    expect(await days()).toEqual(['2026-01-30']);
    world().goTo('2026-02-01T00:30:00.000Z');
    await usage.details(mine, '2026-01-31', '2026-01-31');
    expect(await days()).toEqual(['2026-01-30']);
    world().goTo('2026-02-01T01:30:00.000Z');
    const servers = await Promise.all(['x', 'y', 'z'].map(async (name) => await world().server(`there/${name}`)));
    await Promise.all(servers.map(async (each) => await each.usage.details(mine, '2026-01-31', '2026-02-01')));
    expect(await days()).toEqual(['2026-01-30', '2026-01-31']);
    await usage.deleteBefore(new Date('2026-02-01T01:00:00.000Z'));
    const expected = { day: '2026-01-31', keyId: 'k1', kind: 'image', mode: 'live', outcome: 'delivered' };
    expect(await usage.details(mine, '2026-01-31', '2026-02-01')).toEqual([{ ...expected, renders: 2, credits: 2 }]);
  });

  it.each([
    ['ahead', '2026-02-20T10:00:00.000Z'],
    ['behind', '2026-01-10T10:00:00.000Z'],
  ])('the usage of a day is complete after the clock was %s for a while', async (_direction, wrong) => {
    const { ledger, usage } = world().store;
    const mine = await world().account();
    const render = async (keyId: string): Promise<void> => {
      const hold = await world().hold(mine, { keyId });
      await ledger.reserve(hold);
      await ledger.settle(hold.renderId, DELIVERED);
    };
    const counts = async (): Promise<unknown> =>
      (await usage.details(mine, '2026-01-01', '2026-02-28')).map(({ day, keyId, renders }) => [day, keyId, renders]);
    await render('k1');
    // The days until the wrong date look as if they were over, so their sums are stored.
    world().goTo(wrong);
    await usage.details(mine, '2026-01-01', '2026-02-28');
    await render('k1');
    world().goTo('2026-01-31T12:00:00.000Z');
    await Promise.all([render('k1'), render('k2'), render('k2')]);
    const day = wrong.slice(0, 10);
    const today = [
      ['2026-01-31', 'k1', 2],
      ['2026-01-31', 'k2', 2],
    ];
    const other = [[day, 'k1', 1]];
    expect(await counts()).toEqual(day < '2026-01-31' ? [...other, ...today] : [...today, ...other]);
    world().goTo('2026-03-02T10:00:00.000Z');
    // The right time reaches the days whose sums were stored early, also after their single renders were deleted.
    await usage.deleteBefore(new Date('2026-03-02T00:00:00.000Z'));
    expect(await counts()).toEqual(day < '2026-01-31' ? [...other, ...today] : [...today, ...other]);
  });
}
