import { describe, expect, it } from 'vitest';
import { fitMemory } from './fit-memory.ts';

const GB = 1024 ** 3;
const MB = 1024 ** 2;
const WANTED = {
  image: { workers: 2, memoryBytes: 2 * GB },
  video: { workers: 1, memoryBytes: 4 * GB },
};

describe('fitMemory', () => {
  it('keeps the limits without a container, and in a container that is large enough', () => {
    expect(fitMemory(WANTED, undefined)).toEqual({ image: 2 * GB, video: 4 * GB });
    expect(fitMemory(WANTED, 8.5 * GB)).toEqual({ image: 2 * GB, video: 4 * GB });
  });

  it('shrinks the limits in proportion, so that all workers and the server fit into the container', () => {
    const { image, video } = fitMemory(WANTED, 4.5 * GB);
    expect({ image, video }).toEqual({ image: 1 * GB, video: 2 * GB });
    expect(2 * image + video).toBeLessThanOrEqual(4 * GB);
  });

  it('never goes below what a worker needs to start', () => {
    expect(fitMemory(WANTED, 512 * MB)).toEqual({ image: 256 * MB, video: 256 * MB });
  });

  it('never raises a limit', () => {
    const small = { image: { workers: 1, memoryBytes: 100 * MB }, video: { workers: 1, memoryBytes: 300 * MB } };
    expect(fitMemory(small, 256 * MB)).toEqual({ image: 100 * MB, video: 256 * MB });
  });

  it('ignores workers that are not started', () => {
    const images = { ...WANTED, video: { workers: 0, memoryBytes: 4 * GB } };
    expect(fitMemory(images, 4.5 * GB)).toMatchObject({ image: 2 * GB });
  });
});
