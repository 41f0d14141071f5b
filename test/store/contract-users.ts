import { randomUUID } from 'node:crypto';
import { expect, it } from 'vitest';
import { MAX_MAILED_LINKS } from '../../src/service/store/people/users.ts';
import type { PasswordLink, User } from '../../src/service/store/people/user.ts';
import { DAY, HOUR, type World } from './world.ts';

export function usersContract(world: () => World): void {
  const ann = async (): Promise<User> => {
    const user = await world().store.users.signUp('ann@example.com', 'hash of ann');
    if (user === undefined) throw new Error('ann has signed up already');
    return user;
  };
  const signIn = async ({ id }: User, idle = HOUR, lifetime = DAY): Promise<string> => {
    const hash = randomUUID();
    const now = world().clock().getTime();
    const session = { hash, userId: id, idleUntil: new Date(now + idle), endsAt: new Date(now + lifetime) };
    await world().store.sessions.begin(session);
    return hash;
  };
  const link = (changes: Partial<PasswordLink> = {}): PasswordLink => ({
    email: 'ann@example.com',
    role: 'member',
    accountId: null,
    expiresAt: new Date(world().clock().getTime() + HOUR),
    ...changes,
  });

  it('sign up with an account of their own, once per email address', async () => {
    const { users, accounts } = world().store;
    const user = await ann();
    expect(await users.find(user.id)).toEqual(user);
    expect(await users.findByEmail('ann@example.com')).toEqual({ ...user, passwordHash: 'hash of ann' });
    expect(await accounts.find(user.accountId)).toMatchObject({ name: 'ann@example.com', state: 'inactive' });
    expect(await users.signUp('ann@example.com', 'another')).toBeUndefined();
    expect(await users.find('unknown')).toBeUndefined();
    expect(await users.findByEmail('unknown@example.com')).toBeUndefined();
    expect(await users.list()).toEqual([user]);
    expect(await accounts.count()).toBe(1);
    const actor = `user:${user.id}`;
    expect(await world().actions(user.accountId)).toEqual([`${actor} account.created`, `${actor} user.signed_up`]);
  });

  it('users whose account awaits approval get live access from the operator, from a payment or as operators', async () => {
    const { users, accounts } = world().store;
    const signUp = async (name: string): Promise<User> => {
      const user = await users.signUp(`${name}@example.com`, 'hash', 'awaits approval');
      if (user === undefined) throw new Error('the address is taken');
      await accounts.subscribe(user.accountId, 'free', 'now', `account:${user.accountId}`);
      return user;
    };
    const stateOf = async ({ accountId }: User) => (await accounts.find(accountId))?.state;
    const [bob, eve, dan] = [await signUp('bob'), await signUp('eve'), await signUp('dan')];
    expect([await stateOf(bob), await stateOf(eve), await stateOf(dan)]).toEqual(['pending', 'pending', 'pending']);
    expect(await users.searchAccounts('', { state: 'pending', count: 9 })).toHaveLength(3);
    expect(await world().store.operator.pendingAccounts()).toBe(3);
    await accounts.approve(bob.accountId, 'operator:test');
    await accounts.approve(bob.accountId, 'operator:test');
    expect((await world().actions(bob.accountId)).slice(-1)).toEqual(['operator:test account.approved']);
    expect((await world().actions(bob.accountId)).filter((line) => line.endsWith('approved'))).toHaveLength(1);
    const period = { startsAt: world().clock(), endsAt: new Date(world().clock().getTime() + DAY) };
    const paid = { plan: 'pro', status: 'active', renews: true, subscription: 's', period } as const;
    await accounts.applyProvider(eve.accountId, paid, 'stripe');
    await users.setRole('dan@example.com', 'operator', 'cli:test');
    expect([await stateOf(bob), await stateOf(eve), await stateOf(dan)]).toEqual(['active', 'active', 'active']);
    expect(await users.searchAccounts('', { state: 'pending', count: 9 })).toEqual([]);
    expect(await world().store.operator.pendingAccounts()).toBe(0);
  });

  it('users get a few links by email, and another when one was used or its email failed', async () => {
    const { users } = world().store;
    const user = await ann();
    const servers = await Promise.all(['x', 'y'].map(async (name) => await world().server(`there/${name}`)));
    const send = async (hash: string, { users: each } = world().store) => await each.addMailedLink(hash, link());
    expect(await users.addMailedLink('h', link({ email: 'unknown@example.com' }))).toBe(false);
    for (let index = 1; index < MAX_MAILED_LINKS; index += 1) expect(await send(`link-${index}`)).toBe(true);
    // Links that an operator hands over don't count.
    await users.addLink('by hand', link(), 'cli:test');
    const sent = await Promise.all(servers.map(async (server, index) => await send(`last-${index}`, server)));
    expect(sent.filter(Boolean)).toHaveLength(1);
    expect(await send('one more')).toBe(false);
    expect(await users.useLinkToSignIn('link-1')).toMatchObject({ id: user.id, passwordHash: 'hash of ann' });
    expect(await users.useLinkToSignIn('link-1')).toBeUndefined();
    expect(await send('after use')).toBe(true);
    expect(await send('one more')).toBe(false);
    await users.removeLink('after use');
    expect(await send('after a failure')).toBe(true);
    world().pass(HOUR);
    expect(await users.useLinkToSignIn('link-2')).toBeUndefined();
    expect(await send('an hour later')).toBe(true);
  });

  it('sign in with a link without losing their password and sessions, and prove their address if it was sent there', async () => {
    const { users, accounts, sessions } = world().store;
    const user = await users.signUp('ann@example.com', 'hash of ann', 'awaits approval');
    if (user === undefined) throw new Error('ann has signed up already');
    const session = await signIn(user);
    await users.addLink('by hand', link(), 'cli:test');
    await users.addMailedLink('mailed', link());
    expect(await users.useLinkToSignIn('by hand')).toMatchObject({ id: user.id });
    expect(await accounts.find(user.accountId)).toMatchObject({ awaitsApproval: true });
    expect(await users.useLinkToSignIn('mailed')).toMatchObject({ id: user.id, passwordHash: 'hash of ann' });
    expect(await accounts.find(user.accountId)).toMatchObject({ awaitsApproval: false });
    expect(await sessions.find(session)).toMatchObject({ user, awaitsApproval: false });
    await users.addLink('new user', link({ email: 'new@example.com' }), 'cli:test');
    expect(await users.useLinkToSignIn('new user')).toBeUndefined();
  });

  it('users who sign up concurrently with one address become one user', async () => {
    const others = await Promise.all(['x', 'y', 'z'].map(async (name) => await world().server(`there/${name}`)));
    const signedUp = await Promise.all(others.map(async ({ users }) => await users.signUp('bob@example.com', 'hash')));
    expect(signedUp.filter((user) => user !== undefined)).toHaveLength(1);
    expect(await world().store.users.list()).toHaveLength(1);
    expect(await world().store.accounts.count()).toBe(1);
  });

  it('users have sessions that end when idle, and at a fixed time', async () => {
    const { sessions } = world().store;
    const user = await ann();
    const hash = await signIn(user);
    expect(await sessions.find(hash)).toMatchObject({ user });
    expect(await sessions.find('unknown')).toBeUndefined();
    world().pass(HOUR - 1);
    await sessions.extend(hash, new Date(world().clock().getTime() + 2 * DAY));
    world().pass(DAY - HOUR);
    expect(await sessions.find(hash)).toMatchObject({ user });
    world().pass(1);
    expect(await sessions.find(hash)).toBeUndefined();
    const idle = await signIn(user);
    world().pass(HOUR);
    expect(await sessions.find(idle)).toBeUndefined();
    await sessions.removeExpired();
    expect(await world().engine.all('select hash from sessions')).toEqual([]);
    const ended = await signIn(user);
    const other = await signIn(user);
    await sessions.end(ended);
    expect([await sessions.find(ended), await sessions.find(other)]).toEqual([undefined, expect.anything()]);
    await sessions.endAll(user.id);
    expect(await sessions.find(other)).toBeUndefined();
  });

  it('see their sessions, the latest used first, and can end all others', async () => {
    const { sessions } = world().store;
    const user = await ann();
    const now = world().clock();
    const times = { idleUntil: new Date(now.getTime() + HOUR), endsAt: new Date(now.getTime() + DAY) };
    await sessions.begin({ hash: 'phone', userId: user.id, ...times, userAgent: 'Phone' });
    await sessions.begin({ hash: 'laptop', userId: user.id, ...times });
    await sessions.extend('laptop', new Date(now.getTime() + 2 * HOUR));
    const gone = await signIn(user, 1);
    const other = await world().store.users.signUp('bob@example.com', 'hash');
    await sessions.begin({ hash: 'other', userId: other?.id ?? '', ...times });
    world().pass(1);
    expect(await sessions.list(user.id)).toEqual([
      { hash: 'laptop', userAgent: null, createdAt: now, idleUntil: new Date(now.getTime() + 2 * HOUR) },
      { hash: 'phone', userAgent: 'Phone', createdAt: now, idleUntil: times.idleUntil },
    ]);
    expect(await sessions.find(gone)).toBeUndefined();
    expect(await sessions.endOthers(user.id, 'phone')).toBe(2);
    expect((await sessions.list(user.id)).map(({ hash }) => hash)).toEqual(['phone']);
    expect(await sessions.find('other')).toBeDefined();
  });

  it('users lose their sessions and links with a new password', async () => {
    const { users, sessions } = world().store;
    const user = await ann();
    const hash = await signIn(user);
    await users.addLink('old link', link(), 'cli:test');
    await users.setPassword(user.id, 'new hash');
    const changed = await users.findByEmail('ann@example.com');
    expect(changed).toMatchObject({ passwordHash: 'new hash' });
    // Tokens that were signed before the change are invalid.
    expect(changed?.tokenKey).not.toBe(user.tokenKey);
    expect(await sessions.find(hash)).toBeUndefined();
    expect(await users.findLink('old link')).toBeUndefined();
    expect((await world().actions(user.accountId)).at(-1)).toBe(`user:${user.id} user.password_changed`);
  });

  it('users lose an open change of their address with a new password, set with the old one or with a link', async () => {
    const { users } = world().store;
    const user = await ann();
    const expiresAt = new Date(world().clock().getTime() + HOUR);
    const change = { userId: user.id, email: 'thief@example.com', role: 'member', expiresAt } as const;
    await users.addConfirmation('first', change);
    await users.setPassword(user.id, 'new hash');
    expect(await users.findConfirmation('first')).toBeUndefined();
    await users.addConfirmation('second', change);
    await users.addLink('reset', link(), 'cli:test');
    const changed = await users.useLink('reset', 'newer hash');
    expect(await users.confirm('second', user.id)).toBeUndefined();
    expect(await users.find(user.id)).toEqual(changed);
    expect(changed).toMatchObject({ id: user.id, email: user.email, passwordHash: 'newer hash' });
  });

  it('users have to sign in again after they become operators', async () => {
    const { users, sessions } = world().store;
    const user = await ann();
    const hash = await signIn(user);
    expect(await users.setRole('ann@example.com', 'operator', 'cli:test')).toBe(true);
    expect(await users.setRole('ann@example.com', 'operator', 'cli:test')).toBe(true);
    expect(await users.find(user.id)).toEqual({ ...user, role: 'operator' });
    expect(await sessions.find(hash)).toBeUndefined();
    expect(await users.setRole('unknown@example.com', 'operator', 'cli:test')).toBe(false);
    expect((await world().actions(user.accountId)).filter((text) => text.endsWith('user.role'))).toHaveLength(1);
  });

  it('set a password with a link that works once', async () => {
    const { users, sessions } = world().store;
    const user = await ann();
    const hash = await signIn(user);
    await users.addLink('one', link(), 'cli:test');
    await users.addLink('two', link(), 'cli:test');
    expect(await users.findLink('one')).toEqual(link());
    const others = await Promise.all(['x', 'y'].map(async (name) => await world().server(`there/${name}`)));
    const used = await Promise.all(
      others.map(async ({ users: theirs }, index) => await theirs.useLink('one', `hash ${index}`)),
    );
    expect(used.filter((result) => result !== undefined)).toMatchObject([{ id: user.id, email: user.email }]);
    expect(await sessions.find(hash)).toBeUndefined();
    expect(await users.useLink('two', 'hash')).toBeUndefined();
    expect((await users.findByEmail('ann@example.com'))?.passwordHash).toMatch(/^hash \d$/u);
  });

  it('users are created by a link to a new address, until the link expires', async () => {
    const { users } = world().store;
    const accountId = await world().account();
    await users.addLink('invited', link({ accountId, role: 'operator' }), 'cli:test');
    expect(await users.useLink('invited', 'hash')).toMatchObject({ accountId, role: 'operator' });
    await users.addLink('own', link({ email: 'eve@example.com' }), 'cli:test');
    await users.addLink('own, again', link({ email: 'eve@example.com' }), 'cli:test');
    const eve = await users.useLink('own', 'hash');
    expect(eve).toMatchObject({ email: 'eve@example.com', role: 'member' });
    expect(eve?.accountId).not.toBe(accountId);
    expect(await users.findLink('own, again')).toBeUndefined();
    await users.addLink('late', link(), 'cli:test');
    world().pass(HOUR);
    expect(await users.findLink('late')).toBeUndefined();
    expect(await users.useLink('late', 'hash')).toBeUndefined();
    await users.removeExpired();
    expect(await world().engine.all('select hash from password_links')).toEqual([]);
  });

  it('users are not created by a link to an account that was deleted', async () => {
    const { users, accountData } = world().store;
    const { accountId } = await ann();
    await accountData.erase(accountId, 'cli:test');
    // The operator creates the link while the account is being deleted.
    await users.addLink('late', link({ email: 'bob@example.com', accountId }), 'cli:test');
    expect(await users.useLink('late', 'hash')).toBeUndefined();
    expect(await users.list(accountId)).toEqual([]);
  });

  it('users who confirm one address at the same time get it once', async () => {
    const servers = await Promise.all(['x', 'y'].map(async (name) => await world().server(`there/${name}`)));
    const expiresAt = new Date(world().clock().getTime() + HOUR);
    for (let round = 0; round < 5; round += 1) {
      const email = `shared-${round}@example.com`;
      const attempts = await Promise.all(
        servers.map(async ({ users }) => {
          const { id } = await users.signUpUnconfirmed(email, 'hash');
          const hash = randomUUID();
          await users.addConfirmation(hash, { userId: id, email, role: 'member', expiresAt });
          return async (): Promise<User | undefined> => await users.confirm(hash, id);
        }),
      );
      const confirmed = await Promise.all(attempts.map(async (attempt) => await attempt()));
      expect(confirmed.filter((user) => user !== undefined)).toMatchObject([{ email, unconfirmedEmail: null }]);
    }
  });

  it('accounts can be searched by their users, newest first, page by page, without wildcards', async () => {
    const { users, accounts } = world().store;
    const created: string[] = [];
    for (const name of ['ann', 'bob_100%', 'BOB-2']) {
      await accounts.create({ id: `id of ${name}`, name }, 'cli:test');
      created.push(`id of ${name}`);
      world().pass(1);
    }
    const user = await ann();
    const find = async (text: string, after?: string): Promise<string[]> =>
      await users.searchAccounts(text, { after, count: 2 });
    expect(await find('')).toEqual([user.accountId, created[2]]);
    expect(await find('', created[2])).toEqual([created[1], created[0]]);
    expect(await find('bob')).toEqual([created[2], created[1]]);
    expect(await find('b_1')).toEqual([created[1]].filter((id) => id?.includes('b_1')));
    expect(await find('0%')).toEqual([created[1]]);
    expect(await find('%')).toEqual([created[1]]);
    expect(await find('@EXAMPLE.com')).toEqual([user.accountId]);
    expect(await find(user.accountId)).toEqual([user.accountId]);
    expect(await find(String.raw`\ `.trim())).toEqual([]);
  });
}
