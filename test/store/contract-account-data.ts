import { randomUUID } from 'node:crypto';
import { expect, it } from 'vitest';
import { EXPORT_SECTIONS } from '../../src/service/store/accounts/export-sections.ts';
import { TABLES } from '../../src/service/store/copy.ts';
import { insertRow } from '../../src/service/store/engine.ts';
import { DAY, DELIVERED, HOUR, type World } from './world.ts';

const MINUTE = 60_000;
const FACTS = { path: 'POST /v1/overlay', status: 200, code: null, durationMs: 1, credits: 1, bytesIn: 1, bytesOut: 1 };

const NOT_EXPORTED = [
  // Secrets, and links that give access.
  'recovery_codes',
  'password_links',
  'webhook_secrets',
  // Names at the payment provider, and keys of requests that are deleted after a day.
  'customers',
  'idempotency',
  // The numbers of versions that are exported.
  'styles',
  // A count of renders that are exported.
  'test_renders',
  // Events of renders, as they were sent to webhook endpoints with links to the results.
  'render_events',
  'webhook_messages',
];

/** Fails for accounts that can be purged. */
export function unexpected(accountId: string, error: unknown): never {
  throw new Error(`the account ${accountId} was not purged`, { cause: error });
}

export function accountDataContract(world: () => World): void {
  /** Returns a user with a row in every table that belongs to an account. */
  const member = async (name: string): Promise<{ id: string; accountId: string }> => {
    const { users, accounts, keys, sessions, ledger, requests, renders, idempotency, usage, creditNotices } =
      world().store;
    const user = await users.signUp(`${name}@example.com`, `password hash of ${name}`);
    if (user === undefined) throw new Error('the address is taken');
    const { id, accountId } = user;
    await accounts.subscribe(accountId, 'free', 'now', 'cli:test');
    await accounts.linkCustomer(accountId, `cus_${name}`);
    const keyId = randomUUID();
    const hash = Buffer.alloc(32, name);
    await keys.create(
      { id: keyId, accountId, name: 'shop', mode: 'live', hash, prefix: 'sb_live_abcd', lastFour: 'wxyz' },
      'cli:test',
    );
    const later = new Date(world().clock().getTime() + HOUR);
    await sessions.begin({ hash: `session of ${name}`, userId: id, idleUntil: later, endsAt: later });
    const link = { email: `${name}@example.com`, role: 'member', accountId: null, expiresAt: later } as const;
    await users.addLink(`link of ${name}`, link, 'cli:test');
    const confirmation = { userId: id, email: `new-${name}@example.com`, role: 'member', expiresAt: later } as const;
    await users.addConfirmation(`confirmation of ${name}`, confirmation);
    const { period } = await world().subscription(accountId);
    const notice = { userId: id, email: '', accountId, percent: 80, used: 80, credits: 100 };
    await creditNotices.claim({ ...notice, periodStartsAt: period.startsAt.toISOString(), periodEndsAt: '' });
    const factor = { userId: id, secret: `secret of ${name}`, step: 1, recoveryHashes: ['x', 'y'] };
    await world().store.secondFactors.add(factor);
    const passkey = { name: 'x', publicKey: `secret of ${name}`, counter: 0, transports: [] };
    await world().store.passkeys.add({ id: `passkey of ${name}`, userId: id, ...passkey });
    const identity = { provider: 'google', subject: `google ${name}`, email: `${name}@example.com` } as const;
    await world().store.linkedIdentities.link(id, identity);
    const invited = { email: `guest of ${name}`, accountId, accountRole: 'member', expiresAt: later } as const;
    await world().store.members.invite(`invitation of ${name}`, invited, 'cli:test');
    for (const key of ['settled', 'reserved']) {
      const hold = await world().hold(accountId, { keyId });
      await idempotency.claim(accountId, key, { fingerprint: 'fp' }, hold.renderId);
      await ledger.reserve(hold);
      if (key === 'settled') await ledger.settle(hold.renderId, DELIVERED);
    }
    await usage.addRefusals([{ accountId, mode: 'live', outcome: 'rate_limited', count: 2 }]);
    await usage.details(accountId, '2026-01-01', '2026-01-02');
    const origin = { accountId, keyId, mode: 'live' } as const;
    const job = { ...origin, id: randomUUID(), batchId: randomUUID(), request: '{"text":"Hello"}' };
    const accepted = {
      ...job,
      plan: 'free',
      period,
      renews: true,
      lane: 'image',
      asset: undefined,
      maxRunning: 1,
    } as const;
    await renders.accept([accepted], {
      limits: { queuedRenders: 9, storedBytes: 9, serviceBytes: 1e12, testRendersPerDay: 9 },
      batch: { ...origin, id: job.batchId },
    });
    await renders.cancel({ accountId }, job.id);
    const style = { name: 'acme', style: `{"color":"${name}"}` };
    await world().store.styles.put(accountId, style, { names: 1, versions: 1 }, 'cli:test');
    const logo = { id: `logo of ${name}`, kind: 'logo', bytes: 3, sha256: 'a', facts: '{"width":2}' } as const;
    const room = { files: 1, storedBytes: 9, serviceBytes: 9 };
    await world().store.brandFiles.add(accountId, logo, room, 'cli:test');
    const { webhookEndpoints, webhookDeliveries } = world().store;
    const endpoint = { id: `endpoint of ${name}`, accountId, url: `https://${name}.example/`, events: [] };
    await webhookEndpoints.create(endpoint, 1, 'cli:test');
    const message = { id: `message of ${name}`, type: 'webhook.test', body: `body of ${name}` };
    await webhookDeliveries.send(accountId, endpoint.id, message);
    const at = world().clock().toISOString();
    await requests.append(
      Array.from({ length: 510 }, () => ({ id: randomUUID(), accountId, at, keyId, faults: [], ...FACTS })),
    );
    return user;
  };
  const exported = async (accountId: string): Promise<Map<string, unknown[]>> => {
    const sections = new Map<string, unknown[]>();
    for await (const { name, rows } of world().store.accountData.exported(accountId)) {
      sections.set(name, [...(sections.get(name) ?? []), ...rows]);
    }
    return sections;
  };
  /** Rows that belong to the account, per table. */
  const rowsOf = async ({ id, accountId }: { id: string; accountId: string }): Promise<Record<string, number>> => {
    const counts: Record<string, number> = {};
    for (const { name, belongsTo } of TABLES) {
      const conditions = [
        ...(belongsTo.includes('account_id') ? [['account_id', accountId]] : []),
        ...(belongsTo.includes('user_id') ? [['user_id', id]] : []),
        ...(name === 'accounts' ? [['id', accountId]] : []),
      ];
      for (const [column, value = ''] of conditions) {
        const { length } = await world().engine.all(`select 1 as one from ${name} where ${column} = :value`, { value });
        if (length > 0) counts[name] = (counts[name] ?? 0) + length;
      }
    }
    return counts;
  };

  it('the data of an account can be exported without secrets, however many rows there are', async () => {
    const ann = await member('ann');
    await member('bob');
    const sections = await exported(ann.accountId);
    expect([...sections.keys()]).toEqual([
      'account',
      'users',
      'invitations',
      'sessions',
      'passkeys',
      'linked_identities',
      'two_factor',
      'credit_emails',
      'subscription',
      'keys',
      'periods',
      'usage_days',
      'usage_details',
      'renders',
      'batches',
      'asynchronous_renders',
      'requests',
      'styles',
      'brand_files',
      'webhook_endpoints',
      'webhook_deliveries',
      'audit_log',
    ]);
    // Every section has been tested with a row.
    expect([...sections].filter(([, rows]) => rows.length === 0).map(([name]) => name)).toEqual([]);
    expect(sections.get('two_factor')).toMatchObject([{ user_id: ann.id }]);
    expect(sections.get('passkeys')).toMatchObject([{ name: 'x', last_used_at: null }]);
    expect(sections.get('webhook_endpoints')).toMatchObject([{ url: 'https://ann.example/', events: [] }]);
    expect(sections.get('webhook_deliveries')).toMatchObject([{ endpoint_id: 'endpoint of ann', status: 'pending' }]);
    expect(sections.get('brand_files')).toMatchObject([{ id: 'logo of ann', facts: { width: 2 }, deleted_at: null }]);
    expect(sections.get('requests')).toHaveLength(510);
    expect(sections.get('renders')).toHaveLength(2);
    expect(sections.get('users')).toMatchObject([{ id: ann.id, email: 'ann@example.com', account_role: 'owner' }]);
    expect(sections.get('keys')).toMatchObject([{ name: 'shop', last_four: 'wxyz', allowed_origins: [] }]);
    expect(sections.get('asynchronous_renders')).toMatchObject([{ request: { text: 'Hello' } }]);
    const text = JSON.stringify([...sections]);
    expect(text).not.toMatch(/hash of|session of|link of|secret of|invitation of|whsec|body of|bob/u);
    expect(text).not.toContain(Buffer.alloc(32, 'ann').toString('hex'));
  });

  it('the data of an account is exported from every table, except for secrets and copies', () => {
    const exportedTables = new Set(EXPORT_SECTIONS.map(({ from }) => from.split(' ')[0]));
    const missing = TABLES.filter(
      ({ name, belongsTo }) =>
        (belongsTo.includes('account_id') || belongsTo.includes('user_id')) &&
        !exportedTables.has(name) &&
        !NOT_EXPORTED.includes(name),
    );
    expect(missing.map(({ name }) => name)).toEqual([]);
    expect(NOT_EXPORTED.filter((name) => exportedTables.has(name))).toEqual([]);
  });

  it('people and keys of an account are deleted at once, and the rest in the background, without touching other accounts', async () => {
    const [ann, bob] = [await member('ann'), await member('bob')];
    const { accountData, users, keys, sessions, usage } = world().store;
    const before = await rowsOf(bob);
    expect(Object.keys(await rowsOf(ann)).length).toBeGreaterThanOrEqual(15);
    expect(await accountData.erase(ann.accountId, `user:${ann.id}`)).toBe(true);
    expect(await accountData.erase(ann.accountId, `user:${ann.id}`)).toBe(false);
    expect(await users.findByEmail('ann@example.com')).toBeUndefined();
    expect(await users.findLink('link of ann')).toBeUndefined();
    expect(await users.findConfirmation('confirmation of ann')).toBeUndefined();
    expect(await sessions.find('session of ann')).toBeUndefined();
    expect(await keys.find(Buffer.alloc(32, 'ann'))).toBeUndefined();
    expect(await users.signUp('ann@example.com', 'hash')).toMatchObject({ email: 'ann@example.com' });
    expect(await accountData.purge(unexpected)).toEqual([]);
    world().pass(3 * MINUTE);
    const another = await world().server('there/1');
    const purged = await Promise.all([accountData.purge(unexpected), another.accountData.purge(unexpected)]);
    expect(purged.flat()).toEqual([ann.accountId]);
    expect(await rowsOf(ann)).toEqual({});
    expect(await rowsOf(bob)).toEqual(before);
    expect(
      (await world().store.audit.list({ count: 1000 })).filter(({ action }) => action === 'account.deleted'),
    ).toMatchObject([{ actor: `user:${ann.id}`, accountId: null, subject: ann.accountId }]);
    // A request that was refused a moment before must not keep the counts of other accounts from being written.
    await usage.addRefusals([
      { accountId: ann.accountId, mode: 'live', outcome: 'rate_limited', count: 1 },
      { accountId: bob.accountId, mode: 'live', outcome: 'overloaded', count: 1 },
    ]);
    expect(await usage.days(bob.accountId, '2026-01-01', '2026-12-31')).toMatchObject(
      expect.arrayContaining([expect.objectContaining({ outcome: 'overloaded' })]),
    );
  });

  it('the audit log of an account that exists cannot be deleted', async () => {
    const ann = await member('ann');
    world().pass(DAY);
    const attempts = ['delete from audit', `delete from audit where account_id = '${ann.accountId}'`];
    for (const sql of attempts) await expect(world().engine.run(sql)).rejects.toThrow('the audit log only grows');
    await world().store.accountData.erase(ann.accountId, 'cli:test');
    await expect(world().engine.run('delete from audit where account_id is null')).rejects.toThrow('only grows');
  });

  it('accounts are deleted although another account cannot be deleted', async () => {
    const [ann, bob] = [await member('ann'), await member('bob')];
    const { engine, store } = world();
    await engine.run('create table obstacles (account_id text references accounts (id))');
    await engine.run('insert into obstacles values (:accountId)', { accountId: ann.accountId });
    for (const { accountId } of [ann, bob]) {
      await store.accountData.erase(accountId, 'cli:test');
      world().pass(MINUTE);
    }
    world().pass(3 * MINUTE);
    const failed: string[] = [];
    const purge = async (): Promise<string[]> => await store.accountData.purge((accountId) => failed.push(accountId));
    expect(await purge()).toEqual([bob.accountId]);
    expect(failed).toEqual([ann.accountId]);
    await engine.run('drop table obstacles');
    expect(await purge()).toEqual([ann.accountId]);
  });

  it('a user who joined while the account was erased is deleted with it', async () => {
    const ann = await member('ann');
    const { engine, store, clock } = world();
    await store.accountData.erase(ann.accountId, 'cli:test');
    const at = clock().toISOString();
    await insertRow(engine, 'users', {
      id: 'late',
      accountId: ann.accountId,
      email: 'late',
      role: 'member',
      tokenKey: 'key',
      createdAt: at,
    });
    const later = new Date(clock().getTime() + DAY);
    await store.sessions.begin({ hash: 'late', userId: 'late', idleUntil: later, endsAt: later });
    await store.secondFactors.add({ userId: 'late', secret: 'S', step: 1, recoveryHashes: ['x'] });
    await store.passkeys.add({ id: 'late', userId: 'late', name: '', publicKey: '', counter: 0, transports: [] });
    const notice = { userId: 'late', email: '', accountId: ann.accountId, percent: 80, used: 80, credits: 100 };
    await store.creditNotices.claim({ ...notice, periodStartsAt: at, periodEndsAt: at });
    world().pass(3 * MINUTE);
    expect(await store.accountData.purge(unexpected)).toEqual([ann.accountId]);
    expect(await rowsOf({ id: 'late', accountId: ann.accountId })).toEqual({});
  });
}
