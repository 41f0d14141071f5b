import { describe, expect, it } from 'vitest';
import { DEFAULT_PLANS } from '../account/plans.ts';
import { AppError } from '../../shared/errors.ts';
import { FailedDecodes } from './failed-decodes.ts';
import { RateLimiter } from './rate-limiter.ts';

const UNDECODABLE = new AppError('asset_undecodable', 'damaged');
const plan = { ...DEFAULT_PLANS.get('free'), requestsPerMinute: 6 };
const [caller, other] = [
  { accountId: 'a', plan },
  { accountId: 'b', plan },
];

function serversSharing() {
  const clock = { now: 1_000_000 };
  const rates = new RateLimiter(() => clock.now);
  const limits = { take: async (...args: Parameters<RateLimiter['take']>) => rates.take(...args) };
  const server = () => new FailedDecodes(limits, () => clock.now);
  return { clock, servers: [server(), server()] as const };
}

describe('FailedDecodes', () => {
  it('refuses an account that has used up its failures of an hour, until the next one is allowed', async () => {
    const { clock, servers } = serversSharing();
    const [failed] = servers;
    for (let count = 0; count < 6; count += 1) {
      failed.assertFew(caller);
      await failed.count(caller, UNDECODABLE);
    }
    expect(() => failed.assertFew(caller)).toThrow(
      expect.objectContaining({ code: 'too_many_failures', retryAfterSeconds: 600 }),
    );
    failed.assertFew(other);
    clock.now += 600_000;
    failed.assertFew(caller);
    await failed.count(caller, UNDECODABLE);
    expect(() => failed.assertFew(caller)).toThrow(/6 of your renders per hour/u);
  });

  it('counts the failures of all servers together', async () => {
    const { servers } = serversSharing();
    const [one, another] = servers;
    for (let count = 0; count < 6; count += 1) await one.count(caller, UNDECODABLE);
    another.assertFew(caller);
    await another.count(caller, UNDECODABLE);
    expect(() => another.assertFew(caller)).toThrow(expect.objectContaining({ code: 'too_many_failures' }));
  });

  it('counts the failures of each account apart', async () => {
    const { servers } = serversSharing();
    const [failed] = servers;
    for (let count = 0; count < 5; count += 1) await failed.count(caller, UNDECODABLE);
    await failed.count(other, UNDECODABLE);
    failed.assertFew(caller);
    failed.assertFew(other);
    await failed.count(caller, UNDECODABLE);
    expect(() => failed.assertFew(caller)).toThrow(expect.objectContaining({ code: 'too_many_failures' }));
    failed.assertFew(other);
  });

  it.each([
    ['took more memory than a worker has', new AppError('out_of_memory', 'large')],
    ['used up its time', new AppError('deadline_exceeded', 'slow', { usedUpTime: true })],
  ])('counts a render that %s', async (_what, error) => {
    const { servers } = serversSharing();
    const [failed] = servers;
    for (let count = 0; count < 6; count += 1) await failed.count(caller, error);
    expect(() => failed.assertFew(caller)).toThrow(expect.objectContaining({ code: 'too_many_failures' }));
  });

  it('counts no other error, and no deadline that passed in the queue', async () => {
    const { servers } = serversSharing();
    const [failed] = servers;
    for (let count = 0; count < 20; count += 1) {
      await failed.count(caller, new AppError('asset_too_many_pixels', 'large'));
      await failed.count(caller, new Error('a bug'));
      await failed.count(caller, new AppError('deadline_exceeded', 'waited'));
    }
    expect(() => failed.assertFew(caller)).not.toThrow();
  });
});
