import { describe, expect, it } from 'vitest';
import { fitMemory, largestPhoto, type PoolMemory } from './fit-memory.ts';

const GB = 1024 ** 3;
const MB = 1024 ** 2;
const pools = (images: number, imageBytes: number, videos: number, videoBytes: number): PoolMemory => ({
  image: { workers: images, memoryBytes: imageBytes },
  video: { workers: videos, memoryBytes: videoBytes },
});
const WANTED = pools(2, 2 * GB, 1, 4 * GB);
const usedBy = ({ image, video }: PoolMemory): number =>
  image.workers * image.memoryBytes + video.workers * video.memoryBytes;

describe('fitMemory', () => {
  it('keeps workers and limits without a container, and in a container that is large enough', () => {
    expect(fitMemory(WANTED, undefined)).toEqual(WANTED);
    expect(fitMemory(WANTED, 8.5 * GB)).toEqual(WANTED);
  });

  it('shrinks limits first, as far as every asset still fits', () => {
    const fitted = fitMemory(WANTED, 4.5 * GB);
    expect(fitted).toEqual(pools(2, 1 * GB, 1, 2 * GB));
    expect(usedBy(fitted)).toBeLessThanOrEqual(4 * GB);
  });

  it('starts fewer workers before an asset does not fit any more', () => {
    const fitted = fitMemory(pools(8, 2 * GB, 3, 4 * GB), 4.5 * GB);
    expect(fitted.image.workers + fitted.video.workers).toBeLessThan(4);
    expect(fitted.image.memoryBytes).toBeGreaterThanOrEqual(1 * GB);
    expect(fitted.video.memoryBytes).toBeGreaterThanOrEqual(1_152 * MB);
    expect(usedBy(fitted)).toBeLessThanOrEqual(4 * GB);
    expect(largestPhoto(fitted.image.memoryBytes)).toBeUndefined();
  });

  it('leaves room for a photo of 24 megapixels in a container of 2 GB with default settings', () => {
    const fitted = fitMemory(pools(2, 2 * GB, 2, 4 * GB), 2 * GB);
    expect([fitted.image.workers, fitted.video.workers]).toEqual([1, 1]);
    expect(usedBy(fitted)).toBeLessThanOrEqual(1.5 * GB);
    expect(largestPhoto(fitted.image.memoryBytes)).toBeGreaterThanOrEqual(24);
  });

  it('never goes below what a worker needs to start, and keeps one worker of each kind', () => {
    expect(fitMemory(WANTED, 512 * MB)).toEqual(pools(1, 256 * MB, 1, 256 * MB));
  });

  it('never raises a limit or a number of workers', () => {
    const small = pools(1, 100 * MB, 1, 300 * MB);
    const { image, video } = fitMemory(small, 256 * MB);
    expect(image).toEqual({ workers: 1, memoryBytes: 100 * MB });
    expect(video.memoryBytes).toBeLessThanOrEqual(300 * MB);
  });

  it('ignores workers that are not started', () => {
    expect(fitMemory(pools(2, 2 * GB, 0, 4 * GB), 4.5 * GB)).toEqual(pools(2, 2 * GB, 0, 4 * GB));
  });
});
