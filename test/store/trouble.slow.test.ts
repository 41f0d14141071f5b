// A database that is locked, full, restarting or out of connections.

import { randomUUID } from 'node:crypto';
import { setTimeout as wait } from 'node:timers/promises';
import Database from 'libsql';
import pg from 'pg';
import { afterAll, afterEach, describe, expect, it } from 'vitest';
import { reconcile } from '../../src/service/store/ledger/reconcile.ts';
import { integer } from '../../src/service/store/rows.ts';
import { createStore, type Store } from '../../src/service/store/store.ts';
import { createPostgres, NO_POSTGRES } from '../postgres-server.ts';
import { until } from '../running-server.ts';
import { postgresDatabase, sqliteDatabase, type TestDatabase } from './databases.ts';
import { DELIVERED, World } from './world.ts';

const UNAVAILABLE = { code: 'storage_unavailable', retryAfterSeconds: 2 };

describe('an embedded database', () => {
  let database: TestDatabase;
  afterEach(async () => await database.remove());

  it('a locked embedded database fails after a timeout, without blocking anything else', async () => {
    database = sqliteDatabase({ lockTimeoutMs: 300 });
    const world = await World.begin(database);
    const id = await world.account();
    const hold = await world.hold(id);
    await world.store.ledger.reserve(hold);
    const other = new Database(database.place);
    other.exec('begin immediate');
    let ticks = 0;
    const timer = setInterval(() => (ticks += 1), 5);
    await expect(world.store.ledger.settle(hold.renderId, DELIVERED)).rejects.toMatchObject(UNAVAILABLE);
    clearInterval(timer);
    expect(ticks).toBeGreaterThan(2);
    // Reading still works.
    expect(await world.balance(id)).toEqual({ used: 0, reserved: 1 });
    other.exec('rollback');
    other.close();
    // The next retry charges the delivered render, once.
    await world.store.pendingWrites.retry();
    await world.store.pendingWrites.retry();
    expect(await world.balance(id)).toEqual({ used: 1, reserved: 0 });
  });

  it('an embedded database commits what it acknowledges after a lock conflict', async () => {
    database = sqliteDatabase({ lockTimeoutMs: 1 });
    const world = await World.begin(database);
    const id = await world.account();
    const other = new Database(database.place);
    other.exec('begin immediate');
    await expect(world.store.ledger.heartbeat()).rejects.toMatchObject(UNAVAILABLE);
    await expect(world.store.accounts.setSuspended(id, true, 'cli:test')).rejects.toMatchObject(UNAVAILABLE);
    other.exec('commit');
    await world.store.ledger.heartbeat();
    expect(other.prepare('select count(*) as count from owners').all([])).toEqual([{ count: 1 }]);
    other.exec('begin immediate; rollback');
    other.close();
  });

  it('a full embedded database reports it, keeps its data and works again when there is space', async () => {
    database = sqliteDatabase();
    const world = await World.begin(database);
    const id = await world.account();
    const [row = {}] = await world.engine.all('pragma page_count');
    await world.engine.all(`pragma max_page_count = ${integer(row, 'page_count') + 3}`);
    let granted = 0;
    const fill = async (): Promise<void> => {
      for (;;) {
        await world.store.ledger.reserve(await world.hold(id, { limit: 1_000_000 }));
        granted += 1;
      }
    };
    await expect(fill()).rejects.toMatchObject(UNAVAILABLE);
    expect(await world.balance(id)).toEqual({ used: 0, reserved: granted });
    await world.engine.all('pragma max_page_count = 1000000');
    expect(await world.store.ledger.reserve(await world.hold(id, { limit: 1_000_000 }))).toMatchObject({
      granted: true,
    });
    // The data is on disk, and other connections can use it.
    const other = createStore(await database.open(), world.clock, 'there/1');
    await other.ledger.heartbeat();
    expect(await other.ledger.sweep(() => true)).toHaveLength(granted + 1);
  });
});

const server = await createPostgres(true);

describe.skipIf(!server)(`a PostgreSQL server${server ? '' : `: ${NO_POSTGRES}`}`, () => {
  let database: TestDatabase;
  afterEach(async () => await database.remove());
  afterAll(async () => await server?.remove());

  it.each(['SIGINT', 'SIGQUIT'] as const)(
    'a PostgreSQL server that is restarted under load (%s) charges each delivered render once',
    async (signal) => {
      database = await postgresDatabase(server?.url ?? '');
      const world = await World.begin(database);
      const id = await world.account();
      const hold = await world.hold(id, { limit: 1_000_000_000 });
      const delivered = new Set<string>();
      const failures: unknown[] = [];
      const stop = new AbortController();
      const render = async (ledger: Store['ledger']): Promise<void> => {
        while (!stop.signal.aborted) {
          const renderId = randomUUID();
          try {
            if (!(await ledger.reserve({ ...hold, renderId })).granted) continue;
            delivered.add(renderId);
            await ledger.settle(renderId, DELIVERED);
          } catch (error) {
            failures.push(error);
            await wait(100);
          }
        }
      };
      const load = Array.from({ length: 20 }, async () => await render(world.store.ledger));
      const grows = async (count: () => number): Promise<void> => {
        const wanted = count() + 50;
        await until(() => count() >= wanted);
      };
      for (let round = 0; round < 3; round += 1) {
        await grows(() => delivered.size);
        await server?.stop(signal);
        await grows(() => failures.length);
        await server?.start();
      }
      await grows(() => delivered.size);
      stop.abort();
      await Promise.all(load);
      expect(failures.length).toBeGreaterThan(0);
      for (const failure of failures) expect(failure).toMatchObject(UNAVAILABLE);
      expect(await world.store.pendingWrites.retry()).toEqual([]);
      const rows = await world.engine.all("select id from holds where state = 'settled'");
      expect(new Set(rows.map((row) => row['id']))).toEqual(delivered);
      expect(await world.balance(id)).toEqual({ used: delivered.size, reserved: 0 });
      expect(await reconcile(world.engine)).toEqual([]);
    },
  );

  it('a request to a PostgreSQL server without free connections fails after a timeout, and works again later', async () => {
    database = await postgresDatabase(server?.url ?? '');
    const world = await World.begin(database);
    const id = await world.account();
    const blocker = new pg.Client({ connectionString: database.place });
    await blocker.connect();
    await blocker.query('begin; lock table periods in access exclusive mode');
    const template = await world.hold(id);
    const reservations = Array.from({ length: 12 }, async () => {
      return await world.store.ledger.reserve({ ...template, renderId: randomUUID() });
    });
    const outcomes = await Promise.allSettled(reservations);
    const reasons = outcomes.map((outcome) => (outcome.status === 'rejected' ? outcome.reason : outcome.value));
    for (const reason of reasons) expect(reason).toMatchObject(UNAVAILABLE);
    await blocker.query('rollback');
    await blocker.end();
    expect(await world.store.ledger.reserve(template)).toMatchObject({ granted: true });
    expect(await world.balance(id)).toEqual({ used: 0, reserved: 1 });
  });

  it('a PostgreSQL server that cannot be reached reports it when it is opened', async () => {
    database = await postgresDatabase(server?.url ?? '');
    await server?.stop('SIGINT');
    await expect(database.open()).rejects.toMatchObject({
      code: 'storage_unavailable',
      cause: { code: 'ECONNREFUSED' },
    });
    await server?.start();
    await (await database.open()).all('select 1');
  });
});
