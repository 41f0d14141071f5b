// Records and explains every statement of requests, sweeps and pages. None may scan a whole table.

import { describe, expect, inject, it } from 'vitest';
import { hashKey } from '../../src/service/account/api-key.ts';
import type { Engine, SqlSession } from '../../src/service/store/engine.ts';
import { type SqlParameters, text } from '../../src/service/store/rows.ts';
import { createStore, type Store } from '../../src/service/store/store.ts';
import { NO_POSTGRES } from '../postgres-server.ts';
import { postgresDatabase, sqliteDatabase, type TestDatabase } from './databases.ts';
import { LIMITS } from './render-setup.ts';
import { DAY, DELIVERED, FAILED, World } from './world.ts';

const url = inject('postgresUrl');

/** Tables with one row per live process or shard, and the rows that a statement itself finds through an index. */
const SMALL = /\b(?:owners|o|trusted_time|stored_bytes_total|lanes|names|due|picked|counted|CONSTANT ROW)\b/u;

/** A statement reads only the first rows of these indexes, or they contain only what waits or runs right now. */
const SMALL_INDEXES =
  /INDEX (?:accounts_by_age|render_events_pending|renders_ended_assets|renders_ended_targets|renders_claimed|holds_reserved|incidents_open)$/u;

function recording(engine: Engine, seen: Map<string, SqlParameters>): Engine {
  const record = (session: SqlSession): SqlSession => ({
    all: async (sql, parameters = {}) => {
      seen.set(sql, parameters);
      return await session.all(sql, parameters);
    },
    run: async (sql, parameters = {}) => {
      seen.set(sql, parameters);
      return await session.run(sql, parameters);
    },
  });
  return {
    ...record(engine),
    dialect: engine.dialect,
    transaction: async (work) => await engine.transaction(async (session) => await work(record(session))),
    close: async () => await engine.close(),
  };
}

async function useWebhooks(
  accountId: string,
  { webhookEndpoints, webhookDeliveries, renders }: Pick<Store, 'webhookEndpoints' | 'webhookDeliveries' | 'renders'>,
): Promise<void> {
  await webhookEndpoints.create({ id: 'h', accountId, url: 'https://a.example/', events: [] }, 9, 'cli:x');
  await webhookEndpoints.list(accountId);
  await webhookEndpoints.update(accountId, 'h', { url: 'https://c.example/', events: [] }, 'cli:x');
  await webhookEndpoints.rotate(accountId, 'h', 1, 'cli:x');
  const at = new Date().toISOString();
  const event = { id: 'e', accountId, renderId: 'r', type: 'render.failed', createdAt: new Date() } as const;
  const message = { id: 'm', type: 'render.failed', body: '{}' };
  await renders.events.pending(10);
  await webhookDeliveries.publish(event, message, { webhookUrl: 'https://b.example/', batchId: 'b' });
  const delivery = await webhookDeliveries.send(accountId, 'h', message);
  for (const claimed of await webhookDeliveries.claim(5)) {
    const facts = { status: undefined, contentType: undefined, response: '', error: 'x' };
    await webhookDeliveries.endAttempt(claimed, { at, durationMs: 1, requestHeaders: {}, ...facts }, { kind: 'gone' });
  }
  await webhookDeliveries.find(accountId, delivery?.id ?? '');
  await webhookDeliveries.details(accountId, delivery?.id ?? '');
  await webhookDeliveries.list(accountId, { limit: 5, after: delivery?.id });
  await webhookDeliveries.list(accountId, { limit: 5, endpointId: 'h' });
  await webhookDeliveries.list(accountId, { limit: 5, type: 'render.failed', status: 'failed', isSendable: true });
  await webhookDeliveries.sendAgain(accountId, delivery?.id ?? '');
  await webhookDeliveries.releaseLost(() => true);
  await webhookEndpoints.claimNotice();
  await webhookEndpoints.setEnabled(accountId, 'h', true, 'cli:x');
  await webhookEndpoints.remove(accountId, 'h', 'cli:x');
  await webhookDeliveries.deleteBefore(new Date());
}

async function useBrandFiles(accountId: string, { brandFiles }: Store): Promise<void> {
  const logo = { id: 'logo_a', kind: 'logo', bytes: 3, sha256: 'a', facts: '{}' } as const;
  await brandFiles.add(accountId, logo, { ...LIMITS, files: 9 }, 'cli:x');
  await brandFiles.list(accountId, 'logo');
  await brandFiles.ids(accountId);
  await brandFiles.find(accountId, 'logo', 'logo_a');
  await brandFiles.findKept(accountId, 'logo', 'logo_a');
  await brandFiles.orphans(['brand/logo_a']);
  await brandFiles.remove(accountId, 'logo', 'logo_a', 'cli:x');
  await brandFiles.expiredObjects(10);
  await brandFiles.markDeleted({ id: 'logo_a', name: 'brand/logo_a' });
}

async function useRenders(accountId: string, world: World, store: Store): Promise<void> {
  const { renders } = store;
  const { period, renews, plan } = await world.subscription(accountId);
  const asset = { name: 'assets/x', format: 'jpeg', bytes: 400, sha256: undefined };
  const render = { id: 'stored', accountId, keyId: 'k', mode: 'test', batchId: undefined, request: '{}' } as const;
  const origin = { plan, period, renews, lane: 'image', asset, maxRunning: 2 } as const;
  await renders.accept([{ ...render, ...origin }], { limits: LIMITS });
  const claim = await renders.claim('image');
  await renders.claim('put');
  await renders.releaseLost(() => false);
  if (claim) await renders.fail(claim.attempt, { error: '{}', code: 'x', durationMs: 1 });
  for (const object of await renders.expiredObjects(10)) await renders.markDeleted(object);
  await useBrandFiles(accountId, store);
  await renders.list({ accountId, mode: 'test', keyId: 'k' }, { limit: 5, status: 'failed', after: 'stored' });
  await renders.list({ accountId }, { limit: 5, batchId: 'b', day: '2026-01-31' });
}

async function usePages(
  accountId: string,
  { requests, operator, incidents, users, audit, accountData }: Store,
): Promise<void> {
  await requests.list(accountId, { statuses: [500, 599], keyId: 'k', day: '2026-01-31', count: 5 });
  await operator.days('2026-01-30', '2026-01-31');
  await operator.signUps('2026-01-30', '2026-01-31');
  await operator.plans();
  await operator.begunAt();
  await operator.failingWebhooks();
  await incidents.open();
  await incidents.since(new Date());
  const incident = await incidents.report({ title: 'x', impact: 'outage', body: 'x' }, 'operator:x');
  await incidents.update(incident, { body: 'x', isOver: true }, 'operator:x');
  await incidents.find(incident);
  await operator.recordView(accountId, 'operator:x');
  await users.searchAccounts('x', { plan: 'free', state: 'active', after: accountId, count: 5 });
  await audit.list({ action: 'key.', actor: ['system', 'stripe'], count: 5 });
  for await (const section of accountData.exported(accountId)) expect(section.rows.length).toBeGreaterThanOrEqual(0);
}

async function useAll(world: World, store: Store) {
  const { accounts, keys, ledger, idempotency, usage, audit, payments, creditNotices } = store;
  const id = await world.account();
  const hash = hashKey('a key');
  await keys.create({ id: 'k', accountId: id, name: 'k', mode: 'live', hash, prefix: 'p', lastFour: 'l' }, 'cli:x');
  await keys.find(hash);
  await keys.list(id);
  await keys.markUsed('k');
  await keys.rename('k', 'x', 'cli:x');
  await accounts.find(id);
  await accounts.list({ count: 20 });
  await accounts.list({ count: 20, after: id });
  await accounts.upsertMarketplaceAccount('m:1', 'free', 'm');
  await accounts.findByCustomer('c');
  for (const end of ['settle', 'release', 'none'] as const) {
    const hold = await world.hold(id, { renderId: end });
    await idempotency.claim(id, end, { fingerprint: 'fp' }, end);
    await ledger.reserve(hold);
    await ledger.reserve(hold);
    if (end === 'settle') await ledger.settle(end, DELIVERED, { accountId: id, key: end, facts: '{}' });
    if (end === 'release') await ledger.release(end, FAILED);
  }
  await idempotency.claim(id, 'none', { fingerprint: 'fp' }, 'again');
  await idempotency.abandon(id, 'none', 'none');
  await usage.days(id, '2026-01-01', '2026-01-31');
  await usage.keyDays(id, '2026-01-01', '2026-01-31');
  await usage.details(id, '2026-01-01', '2026-01-31');
  await usage.latest(id, 20);
  await creditNotices.due({ percent: 80, plans: [{ name: 'free', credits: 100 }] }, 20);
  await audit.list({ accountId: id, count: 20 });
  await audit.list({ count: 20 });
  await payments.once('e', 't', async () => undefined);
  await useWebhooks(id, store);
  await useRenders(id, world, store);
  await store.backlog.read();
  await usePages(id, store);
  world.pass(2 * DAY);
  const other = await world.server('there/2');
  await other.ledger.reserve(await world.hold(id));
  await ledger.sweep(() => true);
  await idempotency.removeExpired();
  await usage.deleteBefore(world.clock());
  await store.sessions.removeExpired();
  await store.users.removeExpired();
  await store.members.removeExpired();
  await store.passkeys.removeExpired();
  await payments.deleteBefore(world.clock());
  await store.requests.deleteBefore(world.clock());
  await store.requests.trim(10);
  await store.requests.trim(10, world.clock());
  await store.sharedTasks.run('a task', DAY, async () => undefined);
  await store.renders.deleteBefore(world.clock());
  await store.users.eraseUnconfirmed(world.clock());
  await store.accountData.erase(id, 'cli:x');
  world.pass(DAY);
  await store.accountData.purge((_id, error) => {
    throw error;
  });
}

async function explain(engine: Engine, sql: string, parameters: SqlParameters): Promise<string[]> {
  if (engine.dialect === 'sqlite') {
    const rows = await engine.all(`explain query plan ${sql}`, parameters);
    return rows.map((row) => text(row, 'detail')).filter((detail) => detail.startsWith('SCAN'));
  }
  return await engine.transaction(async (session) => {
    // PostgreSQL prefers to scan small tables. With this setting it does so only without an index.
    await session.run('set local enable_seqscan = off');
    const rows = await session.all(`explain ${sql}`, parameters);
    return rows.map((row) => text(row, 'QUERY PLAN').trim()).filter((line) => line.includes('Seq Scan'));
  });
}

describe.each([
  ['SQLite', async (): Promise<TestDatabase> => sqliteDatabase(), false],
  [`PostgreSQL${url === '' ? `: ${NO_POSTGRES}` : ''}`, async () => await postgresDatabase(url), url === ''],
])('statements on %s', (_name, create, skip) => {
  it.skipIf(skip)('find their rows through an index', async () => {
    const world = await World.begin(await create());
    const seen = new Map<string, SqlParameters>();
    await useAll(world, createStore(recording(world.engine, seen), world.clock, 'here/2/b'));
    expect(seen.size).toBeGreaterThan(40);
    const scans: string[] = [];
    for (const [sql, parameters] of seen) {
      for (const line of await explain(world.engine, sql, parameters)) {
        if (!SMALL.test(line) && !SMALL_INDEXES.test(line)) scans.push(`${line}: ${sql}`);
      }
    }
    expect(scans).toEqual([]);
    await world.database.remove();
  });
});
