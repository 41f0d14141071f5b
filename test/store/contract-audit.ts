import { expect, it } from 'vitest';
import { DAY, DELIVERED, FAILED, START, type World } from './world.ts';

export function auditContract(world: () => World): void {
  it('sums renders by day, mode and outcome, including refused requests', async () => {
    const { ledger, usage } = world().store;
    const id = await world().account();
    for (const [credits, delivered] of [
      [2, true],
      [3, true],
      [4, false],
    ] as const) {
      const hold = await world().hold(id, { credits });
      await ledger.reserve(hold);
      if (delivered) await ledger.settle(hold.renderId, DELIVERED);
      else await ledger.release(hold.renderId, FAILED);
      world().pass(1);
    }
    world().pass(DAY);
    const refusals = { accountId: id, mode: 'live', outcome: 'rate_limited', count: 5 } as const;
    await usage.addRefusals([refusals, { ...refusals, count: 2 }]);
    await usage.addRefusals([]);
    expect(await usage.days(id, '2026-01-31', '2026-02-01')).toEqual([
      { day: '2026-01-31', mode: 'live', outcome: 'deadline_exceeded', renders: 1, credits: 0 },
      { day: '2026-01-31', mode: 'live', outcome: 'delivered', renders: 2, credits: 5 },
      { day: '2026-02-01', mode: 'live', outcome: 'rate_limited', renders: 7, credits: 0 },
    ]);
    expect(await usage.days(id, '2026-02-01', '2026-02-01')).toHaveLength(1);
    expect(await usage.totals('2026-01-01', '2026-12-31')).toEqual([
      { accountId: id, mode: 'live', renders: 10, delivered: 2, broken: 0, brokenCharged: 0, credits: 5 },
    ]);
    expect(await usage.totals('2026-02-02', '2026-12-31')).toEqual([]);
    const latest = await usage.latest(id, 2);
    expect(latest.map(({ credits, state, durationMs }) => ({ credits, state, durationMs }))).toEqual([
      { credits: 4, state: 'released', durationMs: null },
      { credits: 3, state: 'settled', durationMs: 12 },
    ]);
  });

  it('deletes single renders and keeps the sums', async () => {
    const { ledger, usage } = world().store;
    const id = await world().account();
    const old = await Promise.all(Array.from({ length: 3 }, async () => await world().hold(id)));
    for (const hold of old) await ledger.reserve(hold);
    await ledger.settle(old[0]?.renderId ?? '', DELIVERED);
    await ledger.release(old[1]?.renderId ?? '', FAILED);
    world().pass(DAY);
    const recent = await world().hold(id);
    await ledger.reserve(recent);
    await ledger.settle(recent.renderId, DELIVERED);
    expect(await usage.deleteBefore(new Date(START.getTime() + 1_000))).toBe(2);
    expect((await usage.latest(id, 10)).map((render) => render.state).toSorted()).toEqual(['reserved', 'settled']);
    expect(await usage.days(id, '2026-01-01', '2026-12-31')).toHaveLength(3);
    expect(await world().balance(id)).toEqual({ used: 2, reserved: 1 });
  });

  it('lists the audit log, newest first, page by page', async () => {
    const { accounts, audit } = world().store;
    const id = await world().account('free');
    world().pass(5);
    await accounts.subscribe(id, 'pro', 'now', 'operator:1');
    await world().account();
    const [newest, ...older] = await audit.list({ accountId: id, count: 10 });
    expect(newest).toEqual({
      seq: expect.any(Number),
      at: '2026-01-31T10:00:00.005Z',
      actor: 'operator:1',
      action: 'subscription.plan',
      accountId: id,
      subject: id,
      details: { from: 'free', to: 'pro', when: 'now' },
    });
    expect(older.map(({ action }) => action)).toEqual(['subscription.plan', 'account.created']);
    expect(await audit.list({ accountId: id, before: newest?.seq, count: 1 })).toEqual(older.slice(0, 1));
    expect(await audit.list({ count: 100 })).toHaveLength(5);
  });

  it('the database protects the audit log against changes', async () => {
    await world().account();
    const before = await world().engine.all('select * from audit order by seq');
    const attempts = [
      "update audit set actor = 'unknown'",
      'delete from audit where seq = 1',
      world().engine.dialect === 'sqlite'
        ? "insert or replace into audit (seq, at, actor, action, subject, details) values (1, '', '', '', '', '{}')"
        : 'truncate audit',
    ];
    for (const sql of attempts) await expect(world().engine.run(sql)).rejects.toThrow('the audit log only grows');
    expect(await world().engine.all('select * from audit order by seq')).toEqual(before);
  });

  it('rolls a change back when its audit entry cannot be written', async () => {
    const id = await world().account('free');
    await expect(
      // The column doesn't accept null, which stands for any failure of the audit entry.
      world().store.accounts.subscribe(id, 'pro', 'now', null as unknown as string),
    ).rejects.toThrow(/null/iu);
    expect(await world().subscription(id)).toMatchObject({ plan: 'free' });
  });

  it('applies a payment event once, and again when it failed before', async () => {
    const { payments } = world().store;
    let applied = 0;
    const apply = async (): Promise<void> => {
      applied += 1;
      if (applied === 1) throw new Error('not yet');
    };
    await expect(payments.once('evt_1', 'invoice.paid', apply)).rejects.toThrow('not yet');
    expect([
      await payments.once('evt_1', 'invoice.paid', apply),
      await payments.once('evt_1', 'invoice.paid', apply),
      await payments.once('evt_2', 'invoice.paid', apply),
    ]).toEqual([true, false, true]);
    expect(applied).toBe(3);
  });
}
