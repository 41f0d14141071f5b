import { expect, it } from 'vitest';
import { AttemptLost } from '../../src/service/store/renders/lock-attempt.ts';
import { renderSetup } from './render-setup.ts';
import { DELIVERED, HOUR, type World } from './world.ts';

export function holdsContract(world: () => World): void {
  const { accepted, claimed, reserve } = renderSetup(world);
  const outcomesOf = async (accountId: string): Promise<string[]> =>
    (await world().store.usage.latest(accountId, 10)).map(({ outcome }) => outcome);

  it('keeps the hold of a stored render when its server dies, for the next attempt', async () => {
    const id = await world().account();
    await accepted(id);
    const other = await world().server('there/9/x');
    expect(await reserve(await claimed(other), other)).toBe(true);
    world().pass(HOUR);
    expect(await world().store.ledger.sweep(() => true)).toEqual([]);
    expect(await world().balance(id)).toEqual({ used: 0, reserved: 3 });
  });

  it('refuses the reservation of an attempt that has lost its render', async () => {
    const id = await world().account();
    await accepted(id);
    const first = await claimed();
    await world().store.renders.giveBack(first.attempt, 0);
    await claimed();
    await expect(reserve(first)).rejects.toThrow(AttemptLost);
    expect(await world().balance(id)).toEqual({ used: 0, reserved: 0 });
  });

  it('leaves the key of a broken delivery that was free to the next request', async () => {
    const { ledger, idempotency } = world().store;
    const id = await world().account();
    const hold = await world().hold(id);
    await idempotency.claim(id, 'k', { fingerprint: 'fp' }, hold.renderId);
    await ledger.reserve(hold);
    expect(await ledger.breakOff(hold.renderId, 5, { accountId: id, key: 'k', facts: '{}' })).toBe('free');
    await idempotency.abandon(id, 'k', hold.renderId);
    expect(await idempotency.claim(id, 'k', { fingerprint: 'fp' }, 'r2')).toEqual({ kind: 'new' });
  });

  it('shows in the history that a render is running, and that it lost its key', async () => {
    const { ledger } = world().store;
    const id = await world().account();
    const [one, two] = [await world().hold(id), await world().hold(id)];
    for (const hold of [one, two]) await ledger.reserve(hold);
    expect(await outcomesOf(id)).toEqual(['running', 'running']);
    const remember = { accountId: id, key: 'taken over', facts: '{}' };
    expect(await ledger.settle(one.renderId, DELIVERED, remember)).toBe(false);
    expect(await ledger.breakOff(two.renderId, 5, remember)).toBeUndefined();
    expect(await outcomesOf(id)).toEqual(['claim_lost', 'claim_lost']);
    expect(await world().balance(id)).toEqual({ used: 0, reserved: 0 });
  });
}
