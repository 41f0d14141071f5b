import { describe, expect, it } from 'vitest';
import { LocalLimits } from './local-limits.ts';

describe('LocalLimits', () => {
  it('lets in as many renders of an account as may run at the same time', async () => {
    const limits = new LocalLimits();
    const leave = await limits.enter('a', 2);
    await limits.enter('a', 2);
    expect(await limits.enter('a', 2)).toBeUndefined();
    expect(await limits.enter('b', 1)).toBeDefined();
    leave?.();
    leave?.();
    expect(await limits.enter('a', 2)).toBeDefined();
    expect(await limits.enter('a', 2)).toBeUndefined();
  });

  it('gives a request back to the rate of a name', async () => {
    const limits = new LocalLimits();
    const rate = { burst: 1, windowMs: 3_600_000 };
    expect((await limits.take('a', rate)).allowed).toBe(true);
    expect((await limits.take('a', rate)).allowed).toBe(false);
    await limits.giveBack('a', rate);
    expect((await limits.take('a', rate)).allowed).toBe(true);
  });
});
