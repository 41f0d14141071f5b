import { describe, expect, it } from 'vitest';
import type { Recipe } from '../../../../engine/render/compose.ts';
import { anyone } from '../../../../../test/dispatch/lease-requests.ts';
import { createPermits, type Permits } from './permits.ts';

/** Takes a permit. The returned function gives it back. */
async function take(permits: Permits, account = 'account'): Promise<() => void> {
  const place = permits.place({ ...anyone(), account });
  place.enter();
  await place.slot();
  const canvas = { width: 1_000, height: 1_000 };
  place.charge({ kind: 'image', canvas, output: { format: 'png' } } as unknown as Recipe);
  return () => place.leave();
}

const turn = async (): Promise<void> => await new Promise((resolve) => setImmediate(resolve));

describe('permits', () => {
  it('number two for every slot and two more, and further renders wait', async () => {
    const permits = createPermits('image', () => 1, 10);
    const taken = await Promise.all([1, 2, 3, 4].map(() => take(permits)));
    const fifth = take(permits);
    expect(permits.waiting).toBe(1);
    taken[0]?.();
    await fifth;
    expect(permits.waiting).toBe(0);
  });

  it('permits go to the account that has received less, not to the one that waited longest', async () => {
    const permits = createPermits('image', () => 0, 10);
    const held = await Promise.all([take(permits, 'greedy'), take(permits, 'greedy')]);
    const served: string[] = [];
    const wait = async (account: string): Promise<void> => {
      await take(permits, account);
      served.push(account);
    };
    const waiting = [wait('greedy'), wait('greedy'), wait('modest')];
    for (const release of held) release();
    await waiting[2];
    expect(served.slice(0, 2)).toContain('modest');
    permits.rejectWaiting(new Error('over'));
    await Promise.allSettled(waiting);
  });

  it('permits are shared by the cost of renders, not by their number', async () => {
    let now = 0;
    const permits = createPermits(
      'video',
      () => 0,
      100,
      () => now,
    );
    const held = [await take(permits), await take(permits)];
    const served: string[] = [];
    const wait = async (account: string): Promise<void> => {
      const place = permits.place({ ...anyone(), account });
      place.enter();
      await place.slot();
      served.push(account);
      place.begin();
      held.push(() => {
        now += account === 'long' ? 10_000 : 1_000;
        place.leave();
      });
    };
    const waiting = ['long', 'short'].flatMap((account) => Array.from({ length: 12 }, async () => await wait(account)));
    for (let count = 0; count < 12; count += 1) {
      held.shift()?.();
      await turn();
    }
    expect(served.filter((account) => account === 'short').length).toBeGreaterThanOrEqual(8);
    permits.rejectWaiting(new Error('over'));
    await Promise.allSettled(waiting);
  });

  it('grow and shrink with the number of slots', async () => {
    let slots = 0;
    const permits = createPermits('video', () => slots, 10);
    const waiting = [1, 2, 3, 4].map(() => take(permits));
    expect(permits.waiting).toBe(2);
    slots = 1;
    permits.dispatch();
    const taken = await Promise.all(waiting);
    slots = 0;
    taken[0]?.();
    taken[1]?.();
    await turn();
    const late = take(permits);
    expect(permits.waiting).toBe(1);
    taken[2]?.();
    await late;
  });

  it('permits cannot be taken after their slots are gone, even if they were never used', async () => {
    let slots = 100;
    const permits = createPermits('image', () => slots, 10);
    permits.dispatch();
    slots = 0;
    await Promise.all([take(permits), take(permits)]);
    void take(permits).catch(() => undefined);
    expect(permits.waiting).toBe(1);
  });

  it('permits are added in constant time and up to a limit, however many slots workers claim to have', async () => {
    let reads = 0;
    const permits = createPermits(
      'image',
      () => {
        reads += 1;
        return 4_000_000;
      },
      10,
    );
    permits.dispatch();
    expect(reads).toBeLessThanOrEqual(1);
    for (let count = 0; count < 10_000; count += 1) await take(permits);
    void take(permits).catch(() => undefined);
    expect(permits.waiting).toBe(1);
  });

  it('a permit is refused when too many renders wait', async () => {
    const permits = createPermits('image', () => 0, 0);
    await Promise.all([take(permits), take(permits)]);
    expect(permits.refusal('a')).toMatchObject({ code: 'overloaded' });
    await expect(take(permits)).rejects.toMatchObject({ code: 'overloaded' });
  });
});
