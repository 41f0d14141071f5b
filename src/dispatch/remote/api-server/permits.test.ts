import { describe, expect, it } from 'vitest';
import { Permits } from './permits.ts';

const never = new AbortController().signal;
const of = (account: string) => ({ account, budgetMs: 60_000 });

describe('permits', () => {
  it('are two for every slot and two more; who comes then waits', async () => {
    const permits = new Permits('image', () => 1, 10);
    const taken = await Promise.all([1, 2, 3, 4].map(() => permits.take(never)));
    const fifth = permits.take(never);
    expect(permits.waiting).toBe(1);
    taken[0]?.();
    await fifth;
    expect(permits.waiting).toBe(0);
  });

  it('go to the account that had less, not to the one that asked first', async () => {
    const permits = new Permits('image', () => 0, 10);
    const held = await Promise.all([permits.take(never, of('greedy')), permits.take(never, of('greedy'))]);
    const served: string[] = [];
    const wait = async (account: string): Promise<void> => {
      await permits.take(never, of(account));
      served.push(account);
    };
    const waiting = [wait('greedy'), wait('greedy'), wait('modest')];
    for (const giveBack of held) giveBack();
    await waiting[2];
    expect(served[0]).toBe('modest');
    permits.rejectWaiting(new Error('over'));
    await Promise.allSettled(waiting);
  });

  it('grow and shrink with the workers', async () => {
    let slots = 0;
    const permits = new Permits('video', () => slots, 10);
    const waiting = [1, 2, 3, 4].map(() => permits.take(never));
    expect(permits.waiting).toBe(2);
    slots = 1;
    permits.adjust();
    const taken = await Promise.all(waiting);
    slots = 0;
    taken[0]?.();
    taken[1]?.();
    const late = permits.take(never);
    expect(permits.waiting).toBe(1);
    taken[2]?.();
    await late;
  });

  it('are refused when too many wait', async () => {
    const permits = new Permits('image', () => 0, 0);
    await Promise.all([permits.take(never), permits.take(never)]);
    expect(() => permits.assertRoom('a')).toThrow(expect.objectContaining({ code: 'overloaded' }));
    await expect(permits.take(never)).rejects.toMatchObject({ code: 'overloaded' });
  });
});
