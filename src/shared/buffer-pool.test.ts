import { describe, expect, it } from 'vitest';
import { BufferPool } from './buffer-pool.ts';

describe('BufferPool', () => {
  it('reuses a buffer that was given back, and never hands out one that is in use', () => {
    const buffers = new BufferPool(1_600, 2);
    const [first, second] = [buffers.take(1_000), buffers.take(1_600)];
    expect(second.buffer).not.toBe(first.buffer);
    buffers.giveBack(first);
    expect(buffers.take(200)).toBe(first);
    expect(buffers.take(200)).not.toBe(first);
  });

  it('keeps at most the configured number of spare buffers', () => {
    const buffers = new BufferPool(1_600, 1);
    const [kept, dropped] = [buffers.take(1_600), buffers.take(1_600)];
    buffers.giveBack(kept);
    buffers.giveBack(dropped);
    expect(buffers.take(1_600)).toBe(kept);
    expect(buffers.take(1_600)).not.toBe(dropped);
  });

  it('allocates small buffers at their exact size and does not pool them', () => {
    const buffers = new BufferPool(1_600, 2);
    const small = buffers.take(99);
    expect(small).toHaveLength(99);
    buffers.giveBack(small);
    expect(buffers.take(1_600)).toHaveLength(1_600);
  });
});
