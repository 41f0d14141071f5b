import { randomUUID } from 'node:crypto';
import { expect, it } from 'vitest';
import type { Invitation } from '../../src/service/store/people/members.ts';
import type { Store } from '../../src/service/store/store.ts';
import type { User } from '../../src/service/store/people/user.ts';
import { DAY, HOUR, type World } from './world.ts';

export function membersContract(world: () => World): void {
  const owner = async (): Promise<User> => {
    const user = await world().store.users.signUp(`${randomUUID()}@example.com`, 'hash');
    if (user === undefined) throw new Error('the address is taken');
    return user;
  };
  const invitation = (accountId: string, changes: Partial<Invitation> = {}): Invitation => ({
    accountId,
    email: 'bob@example.com',
    accountRole: 'member',
    expiresAt: new Date(world().clock().getTime() + DAY),
    ...changes,
  });
  const join = async (accountId: string, changes: Partial<Invitation> = {}): Promise<User> => {
    const hash = randomUUID();
    await world().store.members.invite(hash, invitation(accountId, changes), 'cli:test');
    const user = await world().store.members.accept(hash, 'hash');
    if (user === undefined) throw new Error('the invitation was refused');
    return user;
  };

  it('join with an invitation that works once and only until it expires', async () => {
    const { members, users } = world().store;
    const { accountId } = await owner();
    await members.invite('old', invitation(accountId, { accountRole: 'owner' }), 'cli:test');
    await members.invite('new', invitation(accountId, { accountRole: 'billing' }), 'cli:test');
    expect(await members.findInvitation('old')).toBeUndefined();
    expect(await members.invitations(accountId)).toMatchObject([{ hash: 'new', accountRole: 'billing' }]);
    const servers = await Promise.all(['x', 'y'].map(async (name) => await world().server(`there/${name}`)));
    const joined = await Promise.all(servers.map(async (each) => await each.members.accept('new', 'hash of bob')));
    const bob = joined.find((user) => user !== undefined);
    expect(joined.filter((user) => user !== undefined)).toHaveLength(1);
    expect(bob).toMatchObject({ accountId, email: 'bob@example.com', role: 'member', accountRole: 'billing' });
    expect(await users.findByEmail('bob@example.com')).toMatchObject({ ...bob, passwordHash: 'hash of bob' });
    expect((await world().actions(accountId)).slice(-1)).toEqual([`user:${bob?.id} member.joined`]);
    await members.invite('late', invitation(accountId, { email: 'eve@example.com' }), 'cli:test');
    world().pass(DAY + HOUR);
    expect(await members.accept('late', 'hash')).toBeUndefined();
    await members.removeExpired();
    expect(await world().engine.all('select hash from invitations')).toEqual([]);
  });

  it('members are removed with or without the keys they created', async () => {
    const { members, keys } = world().store;
    const { accountId, id: ownerId } = await owner();
    const createKey = async (createdBy: string): Promise<string> => {
      const facts = { id: randomUUID(), hash: Buffer.from(randomUUID()), prefix: 'sb_live_aaaa', lastFour: 'bbbb' };
      await keys.create({ ...facts, accountId, name: 'shop', mode: 'live', createdBy }, `user:${createdBy}`);
      return facts.id;
    };
    const stateOf = async (keyId: string) => (await keys.get(keyId))?.state;
    const [bob, eve] = [await join(accountId), await join(accountId, { email: 'eve@example.com' })];
    const [ofOwner, ofBob, ofEve] = [await createKey(ownerId), await createKey(bob.id), await createKey(eve.id)];
    expect(await keys.get(ofBob)).toMatchObject({ createdBy: bob.id });
    expect(await members.remove(accountId, eve.id, 'user:x')).toBe('changed');
    expect(await members.remove(accountId, bob.id, 'user:x', 'revoke')).toBe('changed');
    expect([await stateOf(ofOwner), await stateOf(ofBob), await stateOf(ofEve)]).toEqual([
      'active',
      'revoked',
      'active',
    ]);
    expect((await world().actions(accountId)).slice(-3)).toEqual([
      'user:x member.removed',
      'user:x key.revoked',
      'user:x member.removed',
    ]);
  });

  it('an invitation cannot take over a user who has the address already', async () => {
    const { members, users } = world().store;
    const { accountId } = await owner();
    await members.invite('early', invitation(accountId), 'cli:test');
    const bob = await users.signUp('bob@example.com', 'the password of bob');
    expect(await members.accept('early', 'the password of the inviter')).toBeUndefined();
    expect(await users.findByEmail('bob@example.com')).toMatchObject({ ...bob, passwordHash: 'the password of bob' });
  });

  it('members cannot join an account that was deleted', async () => {
    const { members, accountData } = world().store;
    const { accountId } = await owner();
    await members.invite('hash', invitation(accountId), 'cli:test');
    await accountData.erase(accountId, 'cli:test');
    expect(await members.accept('hash', 'hash')).toBeUndefined();
    expect(await members.invite('late', invitation(accountId), 'cli:test')).toBe(false);
  });

  it('members are limited to 50 with open invitations, however many requests invite one at the same time', async () => {
    const { accountId } = await owner();
    const invite = async ({ members }: Store, name: string): Promise<boolean> =>
      await members.invite(randomUUID(), invitation(accountId, { email: `${name}@example.com` }), 'cli:test');
    await join(accountId);
    for (let index = 0; index < 47; index += 1) expect(await invite(world().store, `guest-${index}`)).toBe(true);
    const servers = await Promise.all(['x', 'y'].map(async (name) => await world().server(`there/${name}`)));
    const invited = await Promise.all(servers.map(async (each, index) => await invite(each, `last-${index}`)));
    expect(invited.filter(Boolean)).toHaveLength(1);
    // An invitation that replaces another takes no place.
    expect(await invite(world().store, 'guest-0')).toBe(true);
    expect(await invite(world().store, 'new')).toBe(false);
    world().pass(DAY + HOUR);
    expect(await invite(world().store, 'new')).toBe(true);
  });

  it('members are invited and revoked by their own account only', async () => {
    const { members } = world().store;
    const [mine, other] = [await owner(), await owner()];
    await members.invite('hash', invitation(mine.accountId), 'cli:test');
    expect(await members.revoke(other.accountId, 'hash', 'cli:test')).toBe(false);
    expect(await members.revoke(mine.accountId, 'hash', 'cli:test')).toBe(true);
    expect(await members.findInvitation('hash')).toBeUndefined();
  });

  it('change their role or are removed with their sessions, but the last owner stays', async () => {
    const { members, users, sessions, secondFactors } = world().store;
    const { id, accountId } = await owner();
    const bob = await join(accountId);
    const later = new Date(world().clock().getTime() + HOUR);
    await sessions.begin({ hash: 'session', userId: bob.id, idleUntil: later, endsAt: later });
    await secondFactors.add({ userId: bob.id, secret: 'S', step: 1, recoveryHashes: ['x'] });
    const link = { email: bob.email ?? '', role: 'member', accountId: null, expiresAt: later } as const;
    await users.addLink('link', link, 'cli:test');
    expect(await members.setRole(accountId, id, 'billing', 'cli:test')).toBe('last owner');
    expect(await members.remove(accountId, id, 'cli:test')).toBe('last owner');
    expect(await members.setRole(accountId, bob.id, 'owner', 'cli:test')).toBe('changed');
    expect(await sessions.find('session')).toMatchObject({ user: { accountRole: 'owner' } });
    expect(await members.setRole(accountId, id, 'member', 'cli:test')).toBe('changed');
    expect(await members.remove(accountId, bob.id, 'cli:test')).toBe('last owner');
    expect(await members.setRole(accountId, id, 'owner', 'cli:test')).toBe('changed');
    expect(await members.remove(accountId, bob.id, 'cli:test')).toBe('changed');
    expect(await sessions.find('session')).toBeUndefined();
    expect(await users.findLink('link')).toBeUndefined();
    expect((await users.list(accountId)).map((user) => user.id)).toEqual([id]);
    expect(await members.remove(accountId, bob.id, 'cli:test')).toBe('not found');
    const stranger = await owner();
    expect(await members.setRole(accountId, stranger.id, 'member', 'cli:test')).toBe('not found');
    expect(await members.remove(accountId, stranger.id, 'cli:test')).toBe('not found');
  });

  it('members lose the invitations they sent when they are removed or stop being owners', async () => {
    const { members } = world().store;
    const { id, accountId } = await owner();
    const bob = await join(accountId, { accountRole: 'owner' });
    const eve = await join(accountId, { accountRole: 'owner', email: 'eve@example.com' });
    for (const [hash, userId] of [
      ['ann', id],
      ['bob', bob.id],
      ['eve', eve.id],
    ] as const) {
      world().pass(1);
      await members.invite(hash, invitation(accountId, { email: `${hash}-guest@example.com` }), `user:${userId}`);
    }
    const open = async (): Promise<string[]> =>
      (await members.invitations(accountId)).map(({ hash }) => hash).toSorted();
    await members.setRole(accountId, bob.id, 'owner', 'cli:test');
    expect(await open()).toEqual(['ann', 'bob', 'eve']);
    await members.setRole(accountId, bob.id, 'member', 'cli:test');
    expect(await open()).toEqual(['ann', 'eve']);
    await members.remove(accountId, eve.id, 'cli:test');
    expect(await open()).toEqual(['ann']);
    expect(await members.accept('eve', 'hash')).toBeUndefined();
  });

  it('an account keeps an owner when two owners remove each other at the same time', async () => {
    const ann = await owner();
    const bob = await join(ann.accountId, { accountRole: 'owner' });
    const [one, other] = await Promise.all(['x', 'y'].map(async (name) => await world().server(`there/${name}`)));
    const changes = await Promise.all([
      one?.members.remove(ann.accountId, bob.id, 'cli:test'),
      other?.members.remove(ann.accountId, ann.id, 'cli:test'),
    ]);
    expect(changes.toSorted()).toEqual(['changed', 'last owner']);
  });
}
