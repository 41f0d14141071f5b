import { randomUUID } from 'node:crypto';
import { expect, it } from 'vitest';
import { hashKey } from '../../src/service/account/api-key.ts';
import { TABLES } from '../../src/service/store/copy.ts';
import { integer } from '../../src/service/store/rows.ts';
import type { User } from '../../src/service/store/people/user.ts';
import { insertRow } from '../../src/service/store/engine.ts';
import { unexpected } from './contract-account-data.ts';
import { renderSetup } from './render-setup.ts';
import { DAY, HOUR, type World } from './world.ts';

const WEEK = 7 * DAY;
/** Accounts that an operator or the command line has changed stay. */
const USER = 'user:x';

export function unconfirmedContract(world: () => World): void {
  const { accepted, claimed, reserve, success } = renderSetup(world);

  const signUp = async (): Promise<User> => {
    const { users, sessions } = world().store;
    const email = `${randomUUID()}@example.com`;
    const user = await users.signUpUnconfirmed(email, 'hash');
    const later = new Date(world().clock().getTime() + 30 * DAY);
    await users.addConfirmation(randomUUID(), { userId: user.id, email, role: 'member', expiresAt: later });
    await sessions.begin({ hash: randomUUID(), userId: user.id, idleUntil: later, endsAt: later });
    return user;
  };
  const addKey = async ({ accountId }: User, mode: 'live' | 'test'): Promise<void> => {
    const facts = { id: randomUUID(), name: 'k', prefix: 'p', lastFour: 'l', hash: hashKey(randomUUID()) };
    await world().store.keys.create({ ...facts, accountId, mode }, USER);
  };
  const remove = async (): Promise<number> =>
    await world().store.users.eraseUnconfirmed(new Date(world().clock().getTime() - WEEK));
  const exists = async ({ accountId }: User): Promise<boolean> =>
    (await world().store.users.list(accountId)).length > 0;

  /** An endpoint, and a message that was sent to it. */
  const addWebhook = async (accountId: string, at: string): Promise<void> => {
    const { engine } = world();
    await insertRow(engine, 'webhook_endpoints', {
      id: 'e',
      accountId,
      url: 'u',
      events: '[]',
      state: 'enabled',
      createdAt: at,
    });
    await insertRow(engine, 'webhook_messages', {
      id: 'm',
      accountId,
      type: 'render.succeeded',
      body: '{}',
      createdAt: at,
    });
    await insertRow(engine, 'webhook_deliveries', {
      id: 'd',
      accountId,
      messageId: 'm',
      endpointId: 'e',
      lane: 'e',
      url: 'u',
      status: 'succeeded',
      dueAt: '',
      createdAt: at,
    });
    await insertRow(engine, 'webhook_attempts', {
      deliveryId: 'd',
      number: 1,
      at,
      durationMs: 1,
      requestHeaders: '{}',
      response: '',
    });
  };

  it('unconfirmed accounts are deleted after a while with everything that belongs to them', async () => {
    const { accounts, accountData, renders, requests, idempotency, usage } = world().store;
    const user = await signUp();
    const { accountId } = user;
    await addKey(user, 'test');
    await accounts.subscribe(accountId, 'free', 'now', USER);
    await accepted(accountId, { mode: 'test' });
    const claim = await claimed();
    await reserve(claim);
    await renders.succeed(claim.attempt, success(claim.render.id, { credits: 0 }));
    await idempotency.claim(accountId, 'k', { fingerprint: 'fp' }, 'r');
    await usage.addRefusals([{ accountId, mode: 'test', outcome: 'rate_limited', count: 1 }]);
    const at = world().clock().toISOString();
    await addWebhook(accountId, at);
    const request = { keyId: null, path: 'POST /v1/overlay', status: 200, code: null, durationMs: 1, credits: 0 };
    const sizes = { bytesIn: 1, bytesOut: 1, faults: [] };
    await requests.append(
      Array.from({ length: 1_100 }, () => ({ id: randomUUID(), accountId, at, ...request, ...sizes })),
    );
    world().pass(WEEK - 1);
    expect(await remove()).toBe(0);
    world().pass(HOUR);
    expect(await remove()).toBe(1);
    expect(await exists(user)).toBe(false);
    expect(await remove()).toBe(0);
    world().pass(HOUR);
    expect(await accountData.purge(unexpected)).toEqual([accountId]);
    for (const { name } of TABLES.filter(({ name: table }) => !['audit', 'owners', 'trusted_time'].includes(table))) {
      const [row] = await world().engine.all(`select count(*) as n from ${name}`);
      expect([name, integer(row ?? {}, 'n')]).toEqual([name, 0]);
    }
    const [entry, ...others] = await world().store.audit.list({ count: 10 });
    expect([entry, others]).toMatchObject([{ actor: 'system', action: 'account.deleted', subject: accountId }, []]);
  });

  it('unconfirmed accounts stay when they were confirmed, were charged, were changed by an operator, or work for someone', async () => {
    const { accounts, users, ledger } = world().store;
    const [confirmed, charged, suspended, keyed, paying, running, shared, assigned, administered, forgotten] = [
      await signUp(),
      await signUp(),
      await signUp(),
      await signUp(),
      await signUp(),
      await signUp(),
      await signUp(),
      await signUp(),
      await signUp(),
      await signUp(),
    ] as [User, User, User, User, User, User, User, User, User, User];
    const later = new Date(world().clock().getTime() + DAY);
    const email = 'ann@example.com';
    await users.addConfirmation('link', { userId: confirmed.id, email, role: 'member', expiresAt: later });
    expect(await users.confirm('link', confirmed.id)).toMatchObject({ email });
    for (const { accountId } of [charged, running]) await accounts.subscribe(accountId, 'free', 'now', USER);
    const hold = await world().hold(charged.accountId);
    await ledger.reserve(hold);
    await ledger.settle(hold.renderId, { outcome: 'delivered', durationMs: 1 });
    await accounts.setSuspended(suspended.accountId, true, USER);
    await addKey(keyed, 'live');
    await world().store.operator.recordView(forgotten.accountId, 'operator:o');
    await accounts.subscribe(assigned.accountId, 'pro', 'now', 'operator:o');
    await accounts.subscribe(administered.accountId, 'pro', 'now', 'cli:test');
    await accounts.linkCustomer(paying.accountId, 'cus_1');
    await accepted(running.accountId, { mode: 'test' });
    await users.addLink(
      'invite',
      { email: 'bob@example.com', role: 'member', accountId: shared.accountId, expiresAt: later },
      USER,
    );
    await users.useLink('invite', 'hash');
    // Accounts without users belong to the command line or a marketplace.
    const local = await world().account();
    world().pass(2 * WEEK);
    expect(await remove()).toBe(1);
    const kept = [confirmed, charged, suspended, keyed, paying, running, shared, assigned, administered];
    expect(await Promise.all(kept.map(exists))).toEqual(kept.map(() => true));
    expect(await exists(forgotten)).toBe(false);
    expect(await accounts.find(local)).toBeDefined();
  });

  it('unconfirmed accounts are either deleted or confirmed when both happen at the same time', async () => {
    const { users } = world().store;
    const other = await world().server('there/2/x');
    const signedUp = await Promise.all(Array.from({ length: 10 }, signUp));
    world().pass(2 * WEEK);
    const expiresAt = new Date(world().clock().getTime() + DAY);
    for (const { id } of signedUp) {
      await users.addConfirmation(`link ${id}`, { userId: id, email: `${id}@example.com`, role: 'member', expiresAt });
    }
    const [removed, ...confirmed] = await Promise.all([
      remove(),
      ...signedUp.map(async ({ id }) => await other.users.confirm(`link ${id}`, id)),
    ]);
    expect(removed + confirmed.filter((user) => user !== undefined).length).toBe(signedUp.length);
    for (const [index, user] of confirmed.entries()) {
      const signedUpUser = signedUp[index];
      expect(signedUpUser && (await exists(signedUpUser))).toBe(user !== undefined);
    }
  });
}
