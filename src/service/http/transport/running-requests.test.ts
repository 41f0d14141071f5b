import { describe, expect, it } from 'vitest';
import { RunningRequests } from './running-requests.ts';

describe('RunningRequests', () => {
  it('waits until every handler has ended, whether it failed or not', async () => {
    const requests = new RunningRequests();
    const ends: (() => void)[] = [];
    const handler = async (): Promise<void> => await new Promise((resolve) => ends.push(resolve));
    const failing = requests.run(async () => {
      await handler();
      throw new Error('failed');
    });
    const good = requests.run(handler);
    expect(requests.count).toBe(2);
    let isOver = false;
    const ended = requests.ended(60_000).then((left) => {
      isOver = true;
      return left;
    });
    ends[0]?.();
    await expect(failing).rejects.toThrow('failed');
    expect(isOver).toBe(false);
    ends[1]?.();
    await good;
    expect(await ended).toBe(0);
  });

  it('gives up after the time limit and says how many are left', async () => {
    const requests = new RunningRequests();
    void requests.run(async () => await new Promise(() => undefined));
    expect(await requests.ended(1)).toBe(1);
  });

  it('has nothing to wait for without requests', async () => {
    expect(await new RunningRequests().ended(60_000)).toBe(0);
  });
});
