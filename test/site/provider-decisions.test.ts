// The access that an identity at a provider gives, on servers with closed sign-up, without email, and under attack.

import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { ProviderIdentity } from '../../src/service/account/sign-in-provider.ts';
import { Passwords } from '../../src/site/identity/passwords.ts';
import { Throttle } from '../../src/site/identity/throttle.ts';
import { ProviderSignIn, type ProviderSignInOptions } from '../../src/site/providers/provider-sign-in.ts';
import { LocalLimits } from '../../src/service/limits/local-limits.ts';
import { sqliteDatabase } from '../store/databases.ts';
import { World } from '../store/world.ts';

const ANN: ProviderIdentity = { provider: 'google', subject: '1', email: 'ann@example.com' };
const ADDRESS = '192.0.2.1';
const passwords = new Passwords();

let world: World;
beforeEach(async () => {
  world = await World.begin(sqliteDatabase());
});
afterEach(async () => await world.database.remove());

const create = (changes: Partial<ProviderSignInOptions> = {}): ProviderSignIn =>
  new ProviderSignIn({
    clients: [],
    users: world.store.users,
    identities: world.store.linkedIdentities,
    throttle: new Throttle(new LocalLimits()),
    signUpOpen: true,
    trustsSignUps: false,
    operatorEmail: 'boss@example.com',
    onFailed: () => undefined,
    ...changes,
  });

describe('a proven identity', () => {
  it('a proven identity creates an account first, and signs in to it afterwards, also with a new address', async () => {
    const providerSignIn = create();
    const first = await providerSignIn.signIn(ANN, ADDRESS);
    expect(first).toMatchObject({ kind: 'new', authenticated: { user: { email: 'ann@example.com', role: 'member' } } });
    const second = await providerSignIn.signIn({ ...ANN, email: 'ann@new.example.com' }, ADDRESS);
    expect(second).toMatchObject({ kind: 'known', authenticated: { user: { email: 'ann@example.com' } } });
    expect(await world.store.accounts.count()).toBe(1);
  });

  it('a proven identity creates accounts of one mailbox that await approval, once it has several others', async () => {
    const providerSignIn = create();
    const waiting = [];
    for (let index = 0; index < 5; index += 1) {
      const identity = { ...ANN, subject: `${index}`, email: `ann+${index}@example.com` };
      await providerSignIn.signIn(identity, `192.0.${index}.1`);
      const user = await world.store.users.findByEmail(identity.email);
      waiting.push((await world.store.accounts.find(user?.accountId ?? ''))?.awaitsApproval);
    }
    expect(waiting).toEqual([false, false, false, true, true]);
  });

  it('a proven identity creates no account while sign-up is closed, but signs in to one that exists', async () => {
    const closed = create({ signUpOpen: false });
    expect(await closed.signIn(ANN, ADDRESS)).toEqual({ kind: 'refused', problem: 'closed' });
    expect(await world.store.accounts.count()).toBe(0);
    await create().signIn(ANN, ADDRESS);
    expect(await closed.signIn(ANN, ADDRESS)).toMatchObject({ kind: 'known' });
  });

  it('a proven identity with the address of the operator creates no account, because a provider must not decide who operates the service', async () => {
    const boss = { ...ANN, email: 'boss@example.com' };
    expect(await create().signIn(boss, ADDRESS)).toEqual({ kind: 'refused', problem: 'operator' });
    expect(await world.store.users.findByEmail('boss@example.com')).toBeUndefined();
  });

  it('a proven identity does not open an account with the same address, no matter who created it', async () => {
    const { users, linkedIdentities } = world.store;
    const user = await users.signUp('ann@example.com', await passwords.hash('a horse, a staple'));
    for (const changes of [{}, { signUpOpen: false }])
      expect(await create(changes).signIn(ANN, ADDRESS)).toEqual({ kind: 'refused', problem: 'known address' });
    expect(await linkedIdentities.list(user?.id ?? '')).toEqual([]);
  });

  it('a proven identity gets an account of its own when a stranger signed up with the address and never confirmed it', async () => {
    const attacker = await world.store.users.signUpUnconfirmed('ann@example.com', 'hash');
    const outcome = await create().signIn(ANN, ADDRESS);
    expect(outcome).toMatchObject({ kind: 'new', authenticated: { user: { email: 'ann@example.com' } } });
    const owner = await world.store.users.findByEmail('ann@example.com');
    expect(owner?.id).not.toBe(attacker.id);
    expect(owner?.accountId).not.toBe(attacker.accountId);
    // The attacker's link can't confirm the address any more.
    const expiresAt = new Date(world.clock().getTime() + 1_000);
    const confirmation = { userId: attacker.id, email: 'ann@example.com', role: 'member', expiresAt } as const;
    await world.store.users.addConfirmation('link', confirmation);
    expect(await world.store.users.confirm('link', attacker.id)).toBeUndefined();
  });

  it('a proven identity leaves no password that works', async () => {
    await create().signIn(ANN, ADDRESS);
    const stored = await world.store.users.findByEmail('ann@example.com');
    expect(stored?.passwordHash).toBeNull();
  });

  it('a proven identity creates only a few accounts from one network, like sign-up', async () => {
    const providerSignIn = create();
    const signUps = Array.from({ length: 21 }, (_, index) => ({
      ...ANN,
      subject: `${index}`,
      email: `${index}@example.com`,
    }));
    const results = await Promise.allSettled(signUps.map(async (each) => await providerSignIn.signIn(each, ADDRESS)));
    expect(results.filter(({ status }) => status === 'fulfilled')).toHaveLength(20);
    expect(results.find(({ status }) => status === 'rejected')).toMatchObject({ reason: { code: 'rate_limited' } });
  });
});
