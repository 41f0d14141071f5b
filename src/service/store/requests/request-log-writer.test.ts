import { describe, expect, it } from 'vitest';
import { AppError } from '../../../shared/errors.ts';
import type { LoggedRequest } from './request-log.ts';
import { RequestLogWriter } from './request-log-writer.ts';

const request = (id: number): LoggedRequest => ({
  id: String(id),
  accountId: 'a',
  at: '',
  keyId: null,
  path: '',
  status: 200,
  code: null,
  durationMs: 0,
  credits: 0,
  bytesIn: 0,
  bytesOut: 0,
  faults: [],
});

describe('RequestLogWriter', () => {
  it('keeps entries that could not be written for the next attempt', async () => {
    const written: string[] = [];
    let isAway = true;
    const writer = new RequestLogWriter({
      append: async (requests) => {
        if (isAway) throw new AppError('storage_unavailable', 'the database is unavailable');
        written.push(...requests.map(({ id }) => id));
      },
    });
    writer.add(request(1));
    await expect(writer.flush()).rejects.toThrow('the database is unavailable');
    writer.add(request(2));
    isAway = false;
    await writer.flush();
    expect(written).toEqual(['1', '2']);
  });

  it('drops only the entry that the database refuses', async () => {
    const written: string[] = [];
    const writer = new RequestLogWriter({
      append: async (requests) => {
        if (requests.some(({ id }) => id === '2')) throw new Error('the account does not exist');
        written.push(...requests.map(({ id }) => id));
      },
    });
    for (let id = 1; id <= 3; id += 1) writer.add(request(id));
    await writer.flush();
    expect(written).toEqual(['1', '3']);
    expect(writer.takeDropped()).toBe(1);
  });

  it('drops the oldest entries when too many wait, and counts them', async () => {
    const written: string[] = [];
    const writer = new RequestLogWriter({
      append: async (requests) => void written.push(...requests.map(({ id }) => id)),
    });
    for (let id = 0; id < 10_003; id += 1) writer.add(request(id));
    expect(writer.takeDropped()).toBe(3);
    expect(writer.takeDropped()).toBe(0);
    await writer.flush();
    expect(written).toHaveLength(10_000);
    expect(written[0]).toBe('3');
  });

  it('leaves out refused requests beyond 300 per account and minute, and counts them', async () => {
    const written: LoggedRequest[] = [];
    const writer = new RequestLogWriter({ append: async (requests) => void written.push(...requests) });
    const at = '2026-03-10T12:00:59.000Z';
    const refused = { at, status: 429, code: 'rate_limited' };
    for (let id = 0; id < 1_000; id += 1) writer.add({ ...request(id), ...refused });
    writer.add({ ...request(1_000), ...refused, accountId: 'b' });
    for (let id = 2_000; id < 2_500; id += 1) writer.add({ ...request(id), at });
    expect(writer.takeLeftOut(new Date(at))).toEqual([]);
    writer.add({ ...request(3_000), ...refused, at: '2026-03-10T12:01:00.000Z' });
    await writer.flush();
    const of = (accountId: string, status: number): number =>
      written.filter((each) => each.accountId === accountId && each.status === status).length;
    expect([of('a', 429), of('b', 429), of('a', 200)]).toEqual([301, 1, 500]);
    expect(writer.takeLeftOut(new Date('2026-03-10T12:01:30.000Z'))).toEqual([{ accountId: 'a', requests: 700 }]);
    expect(writer.takeLeftOut(new Date('2026-03-10T12:02:00.000Z'))).toEqual([]);
  });
});
