import { expect, it } from 'vitest';
import type { ProviderIdentity } from '../../src/account/sign-in-provider.ts';
import type { User } from '../../src/store/users.ts';
import { HOUR, type World } from './world.ts';

const GOOGLE: ProviderIdentity = { provider: 'google', subject: '1', email: 'ann@example.com' };
const GITHUB: ProviderIdentity = { provider: 'github', subject: '1', email: 'ann@example.com' };
const BOTH = ['google', 'github'] as const;

export function linkedIdentitiesContract(world: () => World): void {
  const found = (user: User | undefined): User => {
    if (user === undefined) throw new Error('no user');
    return user;
  };
  const unproven = async (): Promise<User> => found(await world().store.users.signUp('ann@example.com', 'hash'));
  const confirmed = async (): Promise<User> => {
    const { users } = world().store;
    const { id: userId } = await users.signUpUnconfirmed('ann@example.com', 'hash');
    const expiresAt = new Date(world().clock().getTime() + HOUR);
    await users.addConfirmation(`link ${userId}`, { userId, email: 'ann@example.com', role: 'member', expiresAt });
    return found(await users.confirm(`link ${userId}`, userId));
  };

  it('create a user without a password, whose address counts as confirmed', async () => {
    const { linkedIdentities, users } = world().store;
    const user = found(await linkedIdentities.signUp(GOOGLE, 'hash'));
    expect(user).toMatchObject({
      email: 'ann@example.com',
      unconfirmedEmail: null,
      role: 'member',
      accountRole: 'owner',
    });
    expect(await users.findByEmail('ann@example.com')).toMatchObject({ id: user.id, hasPassword: false });
    const at = world().clock();
    expect(await linkedIdentities.list(user.id)).toEqual([{ ...GOOGLE, createdAt: at, lastUsedAt: at }]);
    expect(await linkedIdentities.linkByEmail(GITHUB)).toEqual({ kind: 'linked', user });
    expect(await world().actions(user.accountId)).toEqual([
      `user:${user.id} account.created`,
      `user:${user.id} user.signed_up`,
      `user:${user.id} user.identity_linked`,
      `user:${user.id} user.identity_linked`,
    ]);
    await users.setPassword(user.id, 'chosen');
    expect(await users.findByEmail('ann@example.com')).toMatchObject({ hasPassword: true });
  });

  it('do not create a user with the address of another', async () => {
    const { linkedIdentities, accounts } = world().store;
    await unproven();
    const before = await accounts.count();
    expect(await linkedIdentities.signUp(GOOGLE, 'hash')).toBeUndefined();
    expect(await linkedIdentities.use(GOOGLE)).toBeUndefined();
    expect(await accounts.count()).toBe(before);
  });

  it('create one user when two servers sign up the same identity at the same time', async () => {
    const servers = await Promise.all(['x', 'y'].map(async (name) => await world().server(`there/${name}`)));
    const users = await Promise.all(servers.map(async (each) => await each.linkedIdentities.signUp(GOOGLE, 'hash')));
    expect(users.filter((user) => user !== undefined)).toHaveLength(1);
    expect(await world().store.linkedIdentities.use(GOOGLE)).toEqual(users.find((user) => user !== undefined));
  });

  it('name their user by the subject, whatever the address is by then', async () => {
    const { linkedIdentities } = world().store;
    const user = await linkedIdentities.signUp(GOOGLE, 'hash');
    world().pass(HOUR);
    expect(await linkedIdentities.use({ ...GOOGLE, email: 'new@example.com' })).toEqual(user);
    expect(await linkedIdentities.list(user?.id ?? '')).toMatchObject([
      { email: GOOGLE.email, lastUsedAt: world().clock() },
    ]);
    for (const other of [GITHUB, { ...GOOGLE, subject: '2' }])
      expect(await linkedIdentities.use(other)).toBeUndefined();
  });

  it('are linked to the user with the same address only if that user has confirmed it', async () => {
    const { linkedIdentities } = world().store;
    expect(await linkedIdentities.linkByEmail(GOOGLE)).toEqual({ kind: 'no user' });
    await world().store.users.signUpUnconfirmed('ann@example.com', 'hash');
    expect(await linkedIdentities.linkByEmail(GOOGLE)).toEqual({ kind: 'no user' });
    const user = await confirmed();
    expect(await linkedIdentities.linkByEmail(GOOGLE)).toEqual({ kind: 'linked', user });
    expect(await linkedIdentities.linkByEmail(GOOGLE)).toEqual({ kind: 'linked', user });
    expect(await linkedIdentities.use(GOOGLE)).toEqual(user);
  });

  it('are not linked to a user who never proved to own the address', async () => {
    const { linkedIdentities } = world().store;
    const user = await unproven();
    expect(await linkedIdentities.linkByEmail(GOOGLE)).toEqual({ kind: 'refused', reason: 'unproven' });
    expect(await linkedIdentities.list(user.id)).toEqual([]);
  });

  it('are not linked to an operator by their address', async () => {
    const { linkedIdentities, users } = world().store;
    const user = await confirmed();
    await users.setRole('ann@example.com', 'operator', 'cli:test');
    expect(await linkedIdentities.linkByEmail(GOOGLE)).toEqual({ kind: 'refused', reason: 'operator' });
    expect(await linkedIdentities.link(user.id, GOOGLE)).toBe('linked');
  });

  it('are one per provider, so that a new owner of an address does not get the account', async () => {
    const { linkedIdentities } = world().store;
    const user = await confirmed();
    await linkedIdentities.linkByEmail(GOOGLE);
    const newOwner = { ...GOOGLE, subject: '2' };
    expect(await linkedIdentities.linkByEmail(newOwner)).toEqual({ kind: 'refused', reason: 'other identity' });
    expect(await linkedIdentities.link(user.id, newOwner)).toBe('other identity');
    expect(await linkedIdentities.use(newOwner)).toBeUndefined();
  });

  it('of a signed-in user may have another address, unless theirs was never proven', async () => {
    const { linkedIdentities } = world().store;
    const user = await unproven();
    const other = { ...GITHUB, email: 'other@example.com' };
    expect(await linkedIdentities.link(user.id, other)).toBe('unproven');
    // A user with both the session and the address owns the account.
    expect(await linkedIdentities.link(user.id, GOOGLE)).toBe('linked');
    expect(await linkedIdentities.link(user.id, other)).toBe('linked');
    expect(await linkedIdentities.link(user.id, other)).toBe('linked');
    expect((await linkedIdentities.list(user.id)).map(({ provider }) => provider).toSorted()).toEqual([
      'github',
      'google',
    ]);
  });

  it('belong to one user', async () => {
    const { linkedIdentities, users } = world().store;
    await linkedIdentities.signUp(GOOGLE, 'hash');
    const bob = found(await users.signUp('bob@example.com', 'hash'));
    expect(await linkedIdentities.link(bob.id, { ...GOOGLE, email: 'bob@example.com' })).toBe('taken');
    expect(await linkedIdentities.unlink(bob.id, 'google', BOTH)).toBe('not found');
  });

  it('can be unlinked, except for the last way to sign in', async () => {
    const { linkedIdentities, users } = world().store;
    const user = found(await linkedIdentities.signUp(GOOGLE, 'hash'));
    expect(await linkedIdentities.unlink(user.id, 'google', BOTH)).toBe('last way');
    await linkedIdentities.linkByEmail(GITHUB);
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

  it('are deleted with their account, and can be used to sign up again', async () => {
    const { linkedIdentities, accountData } = world().store;
    const user = found(await linkedIdentities.signUp(GOOGLE, 'hash'));
    await accountData.erase(user.accountId, `user:${user.id}`);
    expect(await linkedIdentities.use(GOOGLE)).toBeUndefined();
    expect(await linkedIdentities.signUp(GOOGLE, 'hash')).toBeDefined();
  });

  it('are part of the export of the account', async () => {
    const user = found(await world().store.linkedIdentities.signUp(GOOGLE, 'hash'));
    const exported = [];
    for await (const { name, rows } of world().store.accountData.exported(user.accountId)) {
      if (name === 'linked_identities') exported.push(...rows);
    }
    expect(exported).toMatchObject([{ provider: 'google', subject: '1', user_id: user.id, email: 'ann@example.com' }]);
  });
}
