import { randomUUID } from 'node:crypto';
import { expect, it } from 'vitest';
import { createApiKey, hashKey, maskKey } from '../../src/service/account/api-key.ts';
import { HOUR, type World } from './world.ts';

export function keysContract(world: () => World): void {
  const issue = async (accountId: string, allowedOrigins: string[] = []) => {
    const key = createApiKey('live');
    const id = randomUUID();
    const hash = hashKey(key);
    await world().store.keys.create(
      { id, accountId, name: 'first', mode: 'live', hash, ...maskKey(key), allowedOrigins },
      'cli:test',
    );
    return { id, key, hash };
  };

  it('keys are found by their hash', async () => {
    const accountId = await world().account('pro');
    const { id, hash } = await issue(accountId, ['https://example.com']);
    expect(await world().store.keys.find(hash)).toEqual({
      keyId: id,
      keyState: 'active',
      mode: 'live',
      allowedOrigins: ['https://example.com'],
      accountId,
      suspended: false,
      awaitsApproval: false,
      subscription: await world().subscription(accountId),
    });
    expect(await world().store.keys.find(hashKey('sb_live_other'))).toBeUndefined();
  });

  it('keys are stored without the key itself', async () => {
    const { key } = await issue(await world().account());
    const rows = await world().engine.all('select * from api_keys');
    const entries = await world().engine.all('select * from audit');
    expect(JSON.stringify([rows, entries])).not.toContain(key.slice(12, -4));
  });

  it('keys are listed for one account or for all', async () => {
    const [one, two] = [await world().account('free'), await world().account('pro')];
    const first = await issue(one);
    world().pass(1);
    const second = await issue(two);
    const { keys } = world().store;
    expect((await keys.list()).map(({ id }) => id)).toEqual([first.id, second.id]);
    expect(await keys.list(two)).toEqual([await keys.get(second.id)]);
    expect(await keys.get(second.id)).toMatchObject({
      plan: 'pro',
      state: 'active',
      lastUsedAt: null,
      expiresAt: null,
    });
    expect(await keys.get('none')).toBeUndefined();
    await keys.markUsed(second.id);
    expect(await keys.get(second.id)).toMatchObject({ lastUsedAt: world().clock().toISOString() });
  });

  it('keys are suspended and resumed, and stay revoked', async () => {
    const { keys } = world().store;
    const { id, hash } = await issue(await world().account());
    const state = async (): Promise<string | undefined> => (await keys.find(hash))?.keyState;
    await keys.setState(id, 'suspended', 'cli:test');
    expect(await state()).toBe('suspended');
    await keys.setState(id, 'active', 'cli:test');
    expect(await state()).toBe('active');
    expect(await keys.setState(id, 'revoked', 'cli:test')).toBe(true);
    expect([
      await keys.setState(id, 'active', 'cli:test'),
      await keys.setState(id, 'revoked', 'cli:test'),
      await keys.rename(id, 'again', 'cli:test'),
      await keys.setAllowedOrigins(id, [], 'cli:test'),
      await keys.expireAt(id, new Date('2030-01-01'), 'cli:test'),
      await keys.setState('none', 'active', 'cli:test'),
    ]).toEqual([false, false, false, false, false, false]);
    expect(await state()).toBe('revoked');
  });

  it('keys that were rotated out work until they expire, and count as revoked then', async () => {
    const { keys } = world().store;
    const { id, hash } = await issue(await world().account());
    await keys.expireAt(id, new Date(world().clock().getTime() + HOUR), 'cli:test');
    world().pass(HOUR - 1);
    expect(await keys.find(hash)).toMatchObject({ keyState: 'active' });
    world().pass(1);
    expect(await keys.find(hash)).toMatchObject({ keyState: 'revoked' });
    expect(await keys.setState(id, 'active', 'cli:test')).toBe(false);
    expect(await keys.expireAt(id, new Date('2030-01-01'), 'cli:test')).toBe(false);
    expect(await keys.get(id)).toMatchObject({ state: 'revoked' });
  });

  it('record each change of name and allowed origins in the audit log', async () => {
    const { keys } = world().store;
    const accountId = await world().account();
    const { id } = await issue(accountId);
    await keys.rename(id, 'shop', 'account:1');
    await keys.setAllowedOrigins(id, ['https://a.example', 'https://b.example'], 'operator:2');
    expect(await keys.get(id)).toMatchObject({
      name: 'shop',
      allowedOrigins: ['https://a.example', 'https://b.example'],
    });
    expect((await world().actions(accountId)).slice(2)).toEqual([
      'cli:test key.created',
      'account:1 key.renamed',
      'operator:2 key.origins',
    ]);
  });

  it('bring the subscription up to date once, whichever server finds them first', async () => {
    const accountId = await world().account('free');
    const { hash } = await issue(accountId);
    const servers = [await world().server('there/1'), await world().server('there/2'), world().store];
    world().goTo('2026-04-30T10:00:00.000Z');
    const holders = await Promise.all(servers.map(async ({ keys }) => await keys.find(hash)));
    const period = { startsAt: new Date('2026-04-30T10:00:00.000Z'), endsAt: new Date('2026-05-31T10:00:00.000Z') };
    for (const holder of holders) expect(holder?.subscription).toMatchObject({ status: 'active', period });
    expect((await world().actions(accountId)).slice(3)).toEqual(['system subscription.renewed']);
    // A clock that goes back changes nothing.
    world().goTo('2026-04-29T10:00:00.000Z');
    expect((await world().store.keys.find(hash))?.subscription).toMatchObject({ period });
  });

  it('keys of accounts whose subscription has ended are reported as inactive', async () => {
    const accountId = await world().account();
    const { id, hash } = await issue(accountId);
    await world().store.accounts.setRenews(accountId, false, 'cli:test');
    world().goTo('2026-03-15T00:00:00.000Z');
    expect(await world().store.keys.get(id)).toMatchObject({ accountState: 'inactive', state: 'active' });
    expect((await world().store.keys.find(hash))?.subscription).toMatchObject({ status: 'inactive' });
  });
}
