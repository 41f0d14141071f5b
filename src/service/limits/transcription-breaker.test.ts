import { describe, expect, it } from 'vitest';
import { RateLimiter } from './rate-limiter.ts';
import { TranscriptionBreaker } from './transcription-breaker.ts';

function serversSharing() {
  const clock = { now: 1_000_000 };
  const rates = new RateLimiter(() => clock.now);
  const limits = {
    take: async (...args: Parameters<RateLimiter['take']>) => rates.take(...args),
    giveBack: async (...args: Parameters<RateLimiter['giveBack']>) => rates.giveBack(...args),
  };
  const server = () => new TranscriptionBreaker(limits, () => clock.now);
  return { clock, servers: [server(), server()] as const };
}

async function fail(breaker: TranscriptionBreaker, times = 1): Promise<void> {
  for (let count = 0; count < times; count += 1) {
    await breaker.enter();
    await breaker.countFailure();
  }
}

const OPEN = { code: 'transcription_failed', retryAfterSeconds: 30 };

describe('TranscriptionBreaker', () => {
  it('opens after five failures in a row, and then lets one request through per 30 seconds', async () => {
    const { clock, servers } = serversSharing();
    const [breaker] = servers;
    await fail(breaker, 5);
    expect(() => breaker.assertClosed()).toThrow(expect.objectContaining(OPEN));
    await expect(breaker.enter()).rejects.toMatchObject(OPEN);
    clock.now += 30_000;
    const trials = await Promise.allSettled([breaker.enter(), breaker.enter(), breaker.enter()]);
    expect(trials.map(({ status }) => status)).toEqual(['fulfilled', 'rejected', 'rejected']);
    await breaker.countFailure();
    await expect(breaker.enter()).rejects.toMatchObject(OPEN);
    clock.now += 30_000;
    await fail(breaker);
    await expect(breaker.enter()).rejects.toMatchObject(OPEN);
  });

  it('closes when a trial succeeds, and counts from the start again', async () => {
    const { clock, servers } = serversSharing();
    const [breaker] = servers;
    await fail(breaker, 5);
    clock.now += 30_000;
    await breaker.enter();
    await breaker.close();
    await fail(breaker, 4);
    breaker.assertClosed();
    await fail(breaker);
    expect(() => breaker.assertClosed()).toThrow(expect.objectContaining(OPEN));
  });

  it('stays closed while failures have successes between them', async () => {
    const { servers } = serversSharing();
    const [breaker] = servers;
    for (let count = 0; count < 20; count += 1) {
      await fail(breaker, 4);
      await breaker.enter();
      await breaker.close();
    }
    expect(() => breaker.assertClosed()).not.toThrow();
  });

  it('counts the failures of all servers together, and shares the trials', async () => {
    const { clock, servers } = serversSharing();
    const [one, another] = servers;
    await fail(one, 5);
    await fail(another);
    expect(() => another.assertClosed()).toThrow(expect.objectContaining(OPEN));
    clock.now += 30_000;
    await fail(one);
    await expect(another.enter()).rejects.toMatchObject(OPEN);
  });
});
