import { randomUUID } from 'node:crypto';
import { expect, it } from 'vitest';
import { type LoggedRequest, RequestLog } from '../../src/service/store/requests/request-log.ts';
import type { World } from './world.ts';

const MINUTE = 60_000;

export function requestsContract(world: () => World): void {
  const account = async (): Promise<string> => {
    const user = await world().store.users.signUp(`${randomUUID()}@example.com`, 'hash');
    if (user === undefined) throw new Error('the address is taken');
    return user.accountId;
  };
  /** `age` is in minutes. */
  const request = (accountId: string, age: number, changes: Partial<LoggedRequest> = {}): LoggedRequest => ({
    id: randomUUID(),
    accountId,
    at: new Date(Date.parse('2026-03-10T12:00:00.000Z') - age * MINUTE).toISOString(),
    keyId: 'key-1',
    path: 'POST /v1/overlay',
    status: 200,
    code: null,
    durationMs: 41,
    credits: 1,
    bytesIn: 100,
    bytesOut: 200,
    faults: [],
    ...changes,
  });

  it('lists the requests of one account, newest first, with filters and pages', async () => {
    const { requests } = world().store;
    const [mine, other] = [await account(), await account()];
    const faults = [{ pointer: '#/text', code: 'blank' }];
    const refused = request(mine, 1, { status: 400, code: 'invalid_fields', faults, keyId: 'key-2', credits: 0 });
    const all = [request(mine, 0), refused, request(mine, 2), request(mine, 24 * 60)];
    await requests.append([...all.toReversed(), request(other, 0)]);
    expect(await requests.list(mine, { count: 10 })).toEqual(all);
    expect(await requests.list(mine, { statuses: [400, 499], count: 10 })).toEqual([refused]);
    expect(await requests.list(mine, { keyId: 'key-2', count: 10 })).toEqual([refused]);
    expect(await requests.list(mine, { day: '2026-03-09', count: 10 })).toEqual(all.slice(3));
    expect(await requests.list(mine, { before: refused, count: 1 })).toEqual([all[2]]);
    expect(await requests.find(mine, refused.id)).toEqual(refused);
    expect(await requests.find(other, refused.id)).toBeUndefined();
  });

  it('leaves out paths that are said to be quiet, unless the request failed', async () => {
    const { requests } = world().store;
    const mine = await account();
    const path = 'GET /v1/renders/:id';
    const [poll, failed, render] = [
      request(mine, 0, { path }),
      request(mine, 1, { path, status: 404 }),
      request(mine, 2),
    ];
    await requests.append([poll, failed, render]);
    const quietPaths = [path, 'GET /v1/batches/:id'];
    expect(await requests.list(mine, { quietPaths, count: 10 })).toEqual([failed, render]);
    expect(await requests.list(mine, { count: 10 })).toEqual([poll, failed, render]);
  });

  it('stores a request once, however often it is appended', async () => {
    const { requests } = world().store;
    const mine = await account();
    const entries = Array.from({ length: 120 }, (_, age) => request(mine, age));
    await requests.append(entries);
    await requests.append(entries);
    expect(await requests.list(mine, { count: 500 })).toHaveLength(120);
  });

  it('trims by age, and to the newest requests of each account', async () => {
    const { requests } = world().store;
    const [mine, other] = [await account(), await account()];
    const entries = [0, 1, 2, 3, 4].map((age) => request(mine, age));
    await requests.append([...entries, request(other, 0), request(other, 50)]);
    const before = new Date('2026-03-10T11:30:00.000Z');
    expect((await requests.deleteBefore(before)) + (await requests.trim(3))).toBe(3);
    expect(await requests.list(mine, { count: 10 })).toEqual(entries.slice(0, 3));
    expect(await requests.list(other, { count: 10 })).toHaveLength(1);
  });

  it('trims only accounts with requests since the last time', async () => {
    const { requests } = world().store;
    const [quiet, busy] = [await account(), await account()];
    await requests.append([30, 31, 32].map((age) => request(quiet, age * 60)));
    await requests.append([0, 1, 30 * 60].map((age) => request(busy, age)));
    const since = new Date('2026-03-10T11:30:00.000Z');
    expect(await requests.trim(2, since)).toBe(1);
    expect(await requests.list(quiet, { count: 10 })).toHaveLength(3);
    expect(await requests.list(busy, { count: 10 })).toHaveLength(2);
    expect(await requests.trim(2)).toBe(1);
    expect(await requests.list(quiet, { count: 10 })).toHaveLength(2);
  });

  it('trims in batches, so that other writers wait for none of them long', async () => {
    const [mine, other] = [await account(), await account()];
    const deletions: number[] = [];
    const { engine } = world();
    const watched: typeof engine = {
      dialect: engine.dialect,
      all: async (sql, values) => {
        const rows = await engine.all(sql, values);
        if (sql.startsWith('delete')) deletions.push(rows.length);
        return rows;
      },
      run: async (sql, values) => await engine.run(sql, values),
      transaction: async (work) => await engine.transaction(work),
      close: async () => await engine.close(),
    };
    const requests = new RequestLog(watched);
    await requests.append(Array.from({ length: 1_203 }, () => request(mine, 60)));
    await requests.append(Array.from({ length: 700 }, (_, index) => request(other, index / 60)));
    const old = await requests.deleteBefore(new Date('2026-03-10T11:30:00.000Z'));
    expect(old + (await requests.trim(100))).toBe(1_803);
    expect(deletions.reduce((sum, rows) => sum + rows, 0)).toBe(1_803);
    expect(Math.max(...deletions)).toBeLessThanOrEqual(500);
    expect(await requests.list(other, { count: 1_000 })).toHaveLength(100);
  });

  it('deletes all old requests although another server deletes some of them at the same time', async () => {
    const mine = await account();
    const { engine } = world();
    let deletions = 0;
    const contended: typeof engine = {
      dialect: engine.dialect,
      all: async (sql, values) => {
        const rows = await engine.all(sql, values);
        if (!sql.startsWith('delete')) return rows;
        deletions += 1;
        // The other server was faster with one of the rows of this step.
        return deletions === 1 ? rows.slice(1) : rows;
      },
      run: async (sql, values) => await engine.run(sql, values),
      transaction: async (work) => await engine.transaction(work),
      close: async () => await engine.close(),
    };
    const requests = new RequestLog(contended);
    await requests.append(Array.from({ length: 1_203 }, () => request(mine, 60)));
    await requests.deleteBefore(new Date('2026-03-10T11:30:00.000Z'));
    expect(await requests.list(mine, { count: 1 })).toEqual([]);
    expect(deletions).toBeGreaterThan(1);
  });
}
