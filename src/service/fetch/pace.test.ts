import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { watchReader } from './pace.ts';

beforeEach(() => {
  vi.useFakeTimers();
});
afterEach(() => {
  vi.useRealTimers();
});

/** Simulates a client that reads this many bytes per second, and returns the reasons for which it was given up. */
function reader(bytesPerSecond: number, maxSeconds = 3_600): { reasons: string[]; stop: () => void } {
  const start = Date.now();
  const reasons: string[] = [];
  const sent = (): number => Math.floor(((Date.now() - start) / 1_000) * bytesPerSecond);
  const stop = watchReader(sent, (reason) => reasons.push(reason), maxSeconds);
  return { reasons, stop };
}

describe('watchReader', () => {
  it('accepts a client that reads 2,048 bytes per second', () => {
    const { reasons, stop } = reader(2_048);
    vi.advanceTimersByTime(600_000);
    expect(reasons).toEqual([]);
    stop();
  });

  it('gives up on a client that reads more slowly or not at all', () => {
    for (const speed of [0, 1, 2_000]) {
      const { reasons, stop } = reader(speed);
      vi.advanceTimersByTime(60_000);
      expect(reasons).toEqual(['The client read fewer than 2048 bytes per second.']);
      stop();
    }
  });

  it('gives up on a client that does not have the whole response in time', () => {
    const { reasons, stop } = reader(1_000_000, 120);
    vi.advanceTimersByTime(119_000);
    expect(reasons).toEqual([]);
    vi.advanceTimersByTime(1_000);
    expect(reasons).toEqual(["The client didn't read the response within 120 seconds."]);
    stop();
  });

  it('stops watching', () => {
    const { reasons, stop } = reader(0, 10);
    stop();
    vi.advanceTimersByTime(600_000);
    expect(reasons).toEqual([]);
  });
});
