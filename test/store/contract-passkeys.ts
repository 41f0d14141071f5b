import { expect, it } from 'vitest';
import type { Store } from '../../src/service/store/store.ts';
import { HOUR, type World } from './world.ts';

export function passkeysContract(world: () => World): void {
  const userWithPasskey = async (counter: number): Promise<{ id: string; accountId: string }> => {
    const user = await world().store.users.signUp('ann@example.com', 'hash');
    if (user === undefined) throw new Error('the address is taken');
    const passkey = { id: 'key', userId: user.id, name: 'Laptop', publicKey: 'AQID', counter, transports: ['usb'] };
    expect(await world().store.passkeys.add(passkey)).toBe(true);
    return user;
  };

  it('passkeys belong to one user, who can remove them', async () => {
    const { passkeys, users } = world().store;
    const { id, accountId } = await userWithPasskey(0);
    const stored = { id: 'key', userId: id, name: 'Laptop', publicKey: 'AQID', counter: 0, transports: ['usb'] };
    expect(await passkeys.list(id)).toEqual([{ ...stored, createdAt: world().clock(), lastUsedAt: undefined }]);
    const other = await users.signUp('bob@example.com', 'hash');
    expect(await passkeys.add({ ...stored, userId: other?.id ?? '' })).toBe(false);
    expect(await passkeys.remove(other?.id ?? '', 'key')).toBe(false);
    expect(await passkeys.find('key')).toMatchObject({ userId: id });
    expect(await passkeys.remove(id, 'key')).toBe(true);
    expect(await passkeys.find('key')).toBeUndefined();
    expect((await world().actions(accountId)).slice(-2)).toEqual([
      `user:${id} user.passkey_added`,
      `user:${id} user.passkey_removed`,
    ]);
  });

  it('passkeys are limited to 20 per user, however many requests add one at the same time', async () => {
    const { id: userId } = await userWithPasskey(0);
    const add = async ({ passkeys }: Store, id: string): Promise<boolean> =>
      await passkeys.add({ id, userId, name: 'Phone', publicKey: 'AQID', counter: 0, transports: [] });
    for (let index = 1; index < 19; index += 1) expect(await add(world().store, `key ${index}`)).toBe(true);
    const servers = await Promise.all(['x', 'y'].map(async (name) => await world().server(`there/${name}`)));
    const added = await Promise.all(servers.map(async (each, index) => await add(each, `last ${index}`)));
    expect(added.filter(Boolean)).toHaveLength(1);
    expect(await world().store.passkeys.list(userId)).toHaveLength(20);
  });

  it('passkeys cannot be added to a user of a deleted account', async () => {
    const { id: userId, accountId } = await userWithPasskey(0);
    await world().store.accountData.erase(accountId, 'cli:test');
    const passkey = { id: 'late', userId, name: 'Phone', publicKey: 'AQID', counter: 0, transports: [] };
    expect(await world().store.passkeys.add(passkey)).toBe(false);
  });

  it('passkeys with a counter are refused when it does not grow', async () => {
    const { passkeys } = world().store;
    await userWithPasskey(5);
    for (const counter of [0, 4, 5]) expect(await passkeys.markUsed('key', counter)).toBe(false);
    expect(await passkeys.markUsed('key', 6)).toBe(true);
    expect(await passkeys.find('key')).toMatchObject({ counter: 6, lastUsedAt: world().clock() });
    expect(await passkeys.markUsed('unknown', 7)).toBe(false);
  });

  it('passkeys without a counter can be used any number of times', async () => {
    const { passkeys } = world().store;
    await userWithPasskey(0);
    for (let use = 0; use < 3; use += 1) expect(await passkeys.markUsed('key', 0)).toBe(true);
  });

  it('passkeys have challenges that only their visitor can use, once and for a while', async () => {
    const { passkeys } = world().store;
    const later = new Date(world().clock().getTime() + HOUR);
    await passkeys.addChallenge('one', 'ann', later);
    await passkeys.addChallenge('two', 'ann', later);
    expect(await passkeys.useChallenge('one', 'bob')).toBe(false);
    const servers = await Promise.all(['x', 'y'].map(async (name) => await world().server(`there/${name}`)));
    const used = await Promise.all(servers.map(async (each) => await each.passkeys.useChallenge('one', 'ann')));
    expect(used.filter(Boolean)).toHaveLength(1);
    world().pass(HOUR);
    expect(await passkeys.useChallenge('two', 'ann')).toBe(false);
    await passkeys.removeExpired();
    expect(await world().engine.all('select hash from passkey_challenges')).toEqual([]);
  });
}
