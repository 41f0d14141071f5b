import { describe, expect, inject, it } from 'vitest';
import { copyAll, isEmpty, SUMS, TABLES } from '../../src/service/store/copy.ts';
import type { Engine } from '../../src/service/store/engine.ts';
import { storedBytesOfService } from '../../src/service/store/renders/stored-bytes.ts';
import { integer, text, toRow } from '../../src/service/store/rows.ts';
import { createStore } from '../../src/service/store/store.ts';
import { NO_POSTGRES } from '../postgres-server.ts';
import { postgresDatabase, sqliteDatabase, type TestDatabase } from './databases.ts';
import { DELIVERED, FAILED, World } from './world.ts';

const url = inject('postgresUrl');

/** Fills every table, some with more than a batch. */
async function fill(database: TestDatabase): Promise<World> {
  const world = await World.begin(database);
  const { accounts, keys, ledger, idempotency, usage, payments, users, sessions, renders } = world.store;
  for (let index = 0; index < 210; index += 1)
    await accounts.create({ id: `a${index}`, name: `N ${index} 'é🎬` }, 'cli:x');
  await accounts.subscribe('a7', 'pro', 'now', 'cli:x');
  await accounts.linkCustomer('a7', 'cus_1');
  await keys.create(
    { id: 'k', accountId: 'a7', name: 'k', mode: 'live', hash: Buffer.alloc(32, 7), prefix: 'p', lastFour: 'l' },
    'cli:x',
  );
  for (const end of ['settle', 'release', 'none']) {
    const hold = await world.hold('a7', { renderId: end, credits: 3 });
    await idempotency.claim('a7', `key of ${end}`, { fingerprint: 'fp' }, end);
    await ledger.reserve(hold);
    if (end === 'settle') await ledger.settle(end, DELIVERED, { accountId: 'a7', key: `key of ${end}`, facts: '{}' });
    if (end === 'release') await ledger.release(end, FAILED);
  }
  await ledger.reserve(await world.hold('a7', { renderId: 'test', mode: 'test', testRendersPerDay: 1 }));
  const { period } = await world.subscription('a7');
  const origin = { accountId: 'a7', keyId: 'k', mode: 'live' } as const;
  const render = { ...origin, id: 'job', batchId: 'batch', request: '{}', plan: 'free', period, renews: true } as const;
  await renders.accept([{ ...render, lane: 'image', asset: undefined, maxRunning: 1 }], {
    limits: { queuedRenders: 1, storedBytes: 1, serviceBytes: 1e12, testRendersPerDay: 1 },
    batch: { ...origin, id: 'batch' },
  });
  await renders.cancel({ accountId: 'a7' }, 'job');
  await ledger.heartbeat();
  const incident = { title: 'Outage', impact: 'outage', body: 'Down.' } as const;
  await world.store.incidents.report(incident, 'operator:x');
  await world.store.sharedTasks.run('a task', 1_000, async () => undefined);
  await usage.addRefusals([{ accountId: 'a7', mode: 'live', outcome: 'rate_limited', count: 3 }]);
  await usage.details('a7', '2026-01-01', '2026-01-02');
  await payments.once('evt', 'type', async () => undefined);
  const later = new Date(world.clock().getTime() + 1_000);
  const link = { email: 'ann@example.com', role: 'member', accountId: 'a7', expiresAt: later } as const;
  await users.addLink('used', link, 'cli:x');
  const user = await users.useLink('used', 'hash');
  await sessions.begin({ hash: 's', userId: user?.id ?? '', idleUntil: later, endsAt: later });
  const notice = { userId: user?.id ?? '', email: '', accountId: 'a7', percent: 80, used: 80, credits: 100 };
  await world.store.creditNotices.claim({ ...notice, periodStartsAt: '2026-01-31', periodEndsAt: '2026-02-28' });
  const factor = { userId: user?.id ?? '', secret: 'A'.repeat(32), step: 1, recoveryHashes: ['one', 'two'] };
  await world.store.secondFactors.add(factor);
  const passkey = { id: 'p', userId: user?.id ?? '', name: 'x', publicKey: 'y', counter: 1, transports: ['usb'] };
  await world.store.passkeys.add(passkey);
  await world.store.passkeys.addChallenge('challenge', 'visitor', later);
  const identity = { provider: 'google', subject: '1', email: 'ann@example.com' } as const;
  await world.store.linkedIdentities.link(user?.id ?? '', identity);
  const invitation = { email: 'eve@example.com', accountId: 'a7', accountRole: 'billing', expiresAt: later } as const;
  await world.store.members.invite('invited', invitation, 'cli:x');
  await users.addLink('open', link, 'cli:x');
  const facts = {
    path: 'POST /v1/overlay',
    status: 200,
    code: null,
    durationMs: 1,
    credits: 1,
    bytesIn: 1,
    bytesOut: 1,
  };
  const logged = { id: 'r', accountId: 'a7', at: world.clock().toISOString(), keyId: null, faults: [], ...facts };
  await world.store.requests.append([logged]);
  await world.store.styles.put('a7', { name: 'acme', style: '{}' }, { names: 1, versions: 1 }, 'cli:x');
  const logo = { id: 'logo_a', kind: 'logo', bytes: 3, sha256: 'a', facts: '{}' } as const;
  const room = { files: 1, storedBytes: 9, serviceBytes: 9 };
  await world.store.brandFiles.add('a7', logo, room, 'cli:x');
  const { webhookEndpoints, webhookDeliveries } = world.store;
  await webhookEndpoints.create({ id: 'hook', accountId: 'a7', url: 'https://a.example/', events: [] }, 1, 'cli:x');
  await webhookDeliveries.send('a7', 'hook', { id: 'msg_1', type: 'webhook.test', body: '{}' });
  const outcome = { status: 410, contentType: undefined, response: 'é🎬', error: 'gone' };
  const sent = { at: world.clock().toISOString(), durationMs: 1, requestHeaders: {}, ...outcome };
  for (const claimed of await webhookDeliveries.claim(1))
    await webhookDeliveries.endAttempt(claimed, sent, { kind: 'gone' });
  return world;
}

async function contents(engine: Engine): Promise<Record<string, unknown[]>> {
  const tables: Record<string, unknown[]> = {};
  for (const { name } of [...TABLES, ...SUMS]) {
    const rows = await engine.all(`select * from ${name}`);
    tables[name] = rows.map((row) => JSON.stringify(row)).toSorted();
  }
  return tables;
}

const sqlite = async (): Promise<TestDatabase> => sqliteDatabase();
const postgres = async (): Promise<TestDatabase> => await postgresDatabase(url);

describe('copying a database', () => {
  it('covers every table, and knows its key and whose rows it has', async () => {
    const database = sqliteDatabase();
    const engine = await database.open();
    const tables = await engine.all(
      "select name from sqlite_schema where type = 'table' and name not like 'sqlite_%' and name <> 'schema_version' order by name",
    );
    const copied = [...TABLES, ...SUMS];
    expect(copied.map(({ name }) => name).toSorted()).toEqual(tables.map(({ name }) => name));
    for (const table of copied) {
      const columns = await engine.all(`select name, pk from pragma_table_info('${table.name}') order by pk`);
      const names = columns.map((column) => text(column, 'name'));
      expect(table).toEqual({
        name: table.name,
        key: names.filter((_, index) => toRow(columns[index])['pk'] !== 0),
        belongsTo: ['account_id', 'user_id'].filter((owner) => names.includes(owner)),
      });
    }
    await database.remove();
  });

  describe.each([
    ['SQLite to SQLite', sqlite, sqlite, false],
    [`SQLite to PostgreSQL${url === '' ? `: ${NO_POSTGRES}` : ''}`, sqlite, postgres, url === ''],
    [`PostgreSQL to SQLite${url === '' ? `: ${NO_POSTGRES}` : ''}`, postgres, sqlite, url === ''],
  ])('from %s', (_name, from, to, skip) => {
    it.skipIf(skip)('copies everything, and the copy can be used', async () => {
      const world = await fill(await from());
      const target = await to();
      const engine = await target.open();
      expect(await isEmpty(engine)).toBe(true);
      const copied = await copyAll(world.engine, engine);
      expect(await isEmpty(engine)).toBe(false);
      expect(copied.find(({ table }) => table === 'accounts')).toMatchObject({ rows: 210 });
      expect(copied.every(({ rows }) => rows > 0)).toBe(true);
      expect(await contents(engine)).toEqual(await contents(world.engine));
      // The audit log continues with the next number.
      const store = createStore(engine, world.clock, 'new/1/x');
      const [last] = await store.audit.list({ count: 1 });
      await store.accounts.setSuspended('a7', true, 'cli:x');
      expect((await store.audit.list({ count: 1 }))[0]?.seq).toBe((last?.seq ?? 0) + 1);
      // The database still maintains the sums of the copy.
      const before = await storedBytesOfService(engine);
      const [file] = await engine.all('select sum(bytes) as bytes from brand_files');
      await engine.run('delete from brand_files');
      expect(await storedBytesOfService(engine)).toBe(before - integer(toRow(file), 'bytes'));
      await world.database.remove();
      await target.remove();
    });
  });

  it('keeps nothing when it fails halfway', async () => {
    const world = await fill(sqliteDatabase());
    const target = sqliteDatabase();
    const engine = await target.open();
    // Makes the last table fail.
    await engine.run("create trigger no_audit before insert on audit begin select raise(abort, 'no room'); end");
    await expect(copyAll(world.engine, engine)).rejects.toThrow('no room');
    expect(await isEmpty(engine)).toBe(true);
    await world.database.remove();
    await target.remove();
  });
});
