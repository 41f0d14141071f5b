import { expect, it } from 'vitest';
import type { ProviderIdentity } from '../../src/service/account/sign-in-provider.ts';
import type { User } from '../../src/service/store/people/user.ts';
import { HOUR, type World } from './world.ts';

const GOOGLE: ProviderIdentity = { provider: 'google', subject: '1', email: 'ann@example.com' };
const GITHUB: ProviderIdentity = { provider: 'github', subject: '1', email: 'ann@example.com' };
const BOTH = ['google', 'github'] as const;

export function linkedIdentitiesContract(world: () => World): void {
  const found = (user: User | undefined): User => {
    if (user === undefined) throw new Error('no user');
    return user;
  };
  const withPassword = async (): Promise<User> => found(await world().store.users.signUp('ann@example.com', 'hash'));

  it('identities create a user without a password, whose address counts as confirmed', async () => {
    const { linkedIdentities, users } = world().store;
    const user = found(await linkedIdentities.signUp(GOOGLE));
    expect(user).toMatchObject({
      email: 'ann@example.com',
      unconfirmedEmail: null,
      role: 'member',
      accountRole: 'owner',
    });
    expect(await users.findByEmail('ann@example.com')).toMatchObject({ id: user.id, passwordHash: null });
    const at = world().clock();
    expect(await linkedIdentities.list(user.id)).toEqual([{ ...GOOGLE, createdAt: at, lastUsedAt: at }]);
    expect(await linkedIdentities.link(user.id, GITHUB)).toBe('linked');
    expect(await world().actions(user.accountId)).toEqual([
      `user:${user.id} account.created`,
      `user:${user.id} user.signed_up`,
      `user:${user.id} user.identity_linked`,
      `user:${user.id} user.identity_linked`,
    ]);
    await users.setPassword(user.id, 'chosen');
    expect(await users.findByEmail('ann@example.com')).toMatchObject({ passwordHash: 'chosen' });
  });

  it('identities do not create a user with the address of another', async () => {
    const { linkedIdentities, accounts } = world().store;
    await withPassword();
    const before = await accounts.count();
    expect(await linkedIdentities.signUp(GOOGLE)).toBeUndefined();
    expect(await linkedIdentities.use(GOOGLE)).toBeUndefined();
    expect(await accounts.count()).toBe(before);
  });

  it('identities create one user when two servers sign up the same identity at the same time', async () => {
    const servers = await Promise.all(['x', 'y'].map(async (name) => await world().server(`there/${name}`)));
    const users = await Promise.all(servers.map(async (each) => await each.linkedIdentities.signUp(GOOGLE)));
    expect(users.filter((user) => user !== undefined)).toHaveLength(1);
    expect(await world().store.linkedIdentities.use(GOOGLE)).toEqual(users.find((user) => user !== undefined));
  });

  it('name their user by the subject, whatever the address is by then', async () => {
    const { linkedIdentities } = world().store;
    const user = await linkedIdentities.signUp(GOOGLE);
    world().pass(HOUR);
    expect(await linkedIdentities.use({ ...GOOGLE, email: 'new@example.com' })).toEqual(user);
    expect(await linkedIdentities.list(user?.id ?? '')).toMatchObject([
      { email: GOOGLE.email, lastUsedAt: world().clock() },
    ]);
    for (const other of [GITHUB, { ...GOOGLE, subject: '2' }])
      expect(await linkedIdentities.use(other)).toBeUndefined();
  });

  it('identities are one per user and provider, and may have another address', async () => {
    const { linkedIdentities } = world().store;
    const user = await withPassword();
    expect(await linkedIdentities.link(user.id, GOOGLE)).toBe('linked');
    expect(await linkedIdentities.link(user.id, GOOGLE)).toBe('linked');
    expect(await linkedIdentities.link(user.id, { ...GOOGLE, subject: '2' })).toBe('other identity');
    expect(await linkedIdentities.use({ ...GOOGLE, subject: '2' })).toBeUndefined();
    expect(await linkedIdentities.link(user.id, { ...GITHUB, email: 'other@example.com' })).toBe('linked');
    expect((await linkedIdentities.list(user.id)).map(({ provider }) => provider).toSorted()).toEqual([
      'github',
      'google',
    ]);
  });

  it('identities are linked to one user when two users link the same one at the same time', async () => {
    const { users } = world().store;
    const [ann, bob] = [await withPassword(), found(await users.signUp('bob@example.com', 'hash'))];
    const servers = await Promise.all(['x', 'y'].map(async (name) => await world().server(`there/${name}`)));
    const results = await Promise.all(
      servers.map(async (each, index) => await each.linkedIdentities.link(index === 0 ? ann.id : bob.id, GITHUB)),
    );
    expect(results.toSorted()).toEqual(['linked', 'taken']);
  });

  it('identities are unlinked by a password reset, which gives the account to the owner of the mailbox', async () => {
    const { linkedIdentities, users } = world().store;
    const user = found(await linkedIdentities.signUp(GOOGLE));
    const expiresAt = new Date(world().clock().getTime() + HOUR);
    await users.addLink('reset', { email: user.email ?? '', role: 'member', accountId: null, expiresAt }, 'cli:test');
    expect(await users.useLink('reset', 'chosen')).toMatchObject({ id: user.id });
    expect(await linkedIdentities.use(GOOGLE)).toBeUndefined();
    // Changing the password with the old one isn't a reset.
    await linkedIdentities.link(user.id, GOOGLE);
    await users.setPassword(user.id, 'another');
    expect(await linkedIdentities.use(GOOGLE)).toMatchObject({ id: user.id });
  });

  it('identities belong to one user', async () => {
    const { linkedIdentities, users } = world().store;
    await linkedIdentities.signUp(GOOGLE);
    const bob = found(await users.signUp('bob@example.com', 'hash'));
    expect(await linkedIdentities.link(bob.id, { ...GOOGLE, email: 'bob@example.com' })).toBe('taken');
    expect(await linkedIdentities.unlink(bob.id, 'google', BOTH)).toBe('not found');
  });

  it('identities can be unlinked, except for the last way to sign in', async () => {
    const { linkedIdentities, users } = world().store;
    const user = found(await linkedIdentities.signUp(GOOGLE));
    expect(await linkedIdentities.unlink(user.id, 'google', BOTH)).toBe('last way');
    await linkedIdentities.link(user.id, GITHUB);
    // GitHub isn't configured any more.
    expect(await linkedIdentities.unlink(user.id, 'google', ['google'])).toBe('last way');
    const servers = await Promise.all(['x', 'y'].map(async (name) => await world().server(`there/${name}`)));
    const results = await Promise.all(
      servers.map(async (each, index) => await each.linkedIdentities.unlink(user.id, BOTH[index] ?? 'google', BOTH)),
    );
    expect(results.toSorted()).toEqual(['last way', 'unlinked']);
    const [left] = await linkedIdentities.list(user.id);
    await users.setPassword(user.id, 'chosen');
    expect(await linkedIdentities.unlink(user.id, left?.provider ?? 'google', [])).toBe('unlinked');
    expect((await world().actions(user.accountId)).at(-1)).toBe(`user:${user.id} user.identity_unlinked`);
  });

  it('identities are deleted with their account, and can be used to sign up again', async () => {
    const { linkedIdentities, accountData } = world().store;
    const user = found(await linkedIdentities.signUp(GOOGLE));
    await accountData.erase(user.accountId, `user:${user.id}`);
    expect(await linkedIdentities.use(GOOGLE)).toBeUndefined();
    expect(await linkedIdentities.signUp(GOOGLE)).toBeDefined();
  });

  it('identities are part of the export of the account', async () => {
    const user = found(await world().store.linkedIdentities.signUp(GOOGLE));
    const exported = [];
    for await (const { name, rows } of world().store.accountData.exported(user.accountId)) {
      if (name === 'linked_identities') exported.push(...rows);
    }
    expect(exported).toMatchObject([{ provider: 'google', subject: '1', user_id: user.id, email: 'ann@example.com' }]);
  });
}
