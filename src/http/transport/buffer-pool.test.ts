import { describe, expect, it } from 'vitest';
import { BufferPool } from './buffer-pool.ts';

describe('SpareBuffers', () => {
  it('hands out what came back, and never the same to two', () => {
    const buffers = new BufferPool(1_600, 2);
    const [first, second] = [buffers.take(1_000), buffers.take(1_600)];
    expect(second.buffer).not.toBe(first.buffer);
    buffers.giveBack(first);
    expect(buffers.take(200)).toBe(first);
    expect(buffers.take(200)).not.toBe(first);
  });

  it('keeps only so many', () => {
    const buffers = new BufferPool(1_600, 1);
    const [kept, dropped] = [buffers.take(1_600), buffers.take(1_600)];
    buffers.giveBack(kept);
    buffers.giveBack(dropped);
    expect(buffers.take(1_600)).toBe(kept);
    expect(buffers.take(1_600)).not.toBe(dropped);
  });

  it('gives little ones just what they need, and keeps none of them', () => {
    const buffers = new BufferPool(1_600, 2);
    const little = buffers.take(99);
    expect(little).toHaveLength(99);
    buffers.giveBack(little);
    expect(buffers.take(1_600)).toHaveLength(1_600);
  });
});
