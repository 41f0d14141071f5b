// The driver leaves a statement that failed for want of a lock half done. Such a statement keeps the connection's view of the
// database, so that later commits of other processes stay invisible and nothing can be written.

import { setImmediate as nextTurn } from 'node:timers/promises';
import Database from 'libsql';
import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { SqliteEngine } from '../../src/service/store/sqlite-engine.ts';
import { sqliteDatabase, type TestDatabase } from './databases.ts';

// Keeps a reference to every statement, so that the garbage collector can't reset one that was left half done.
const prepare = vi.spyOn(Database.prototype, 'prepare');

// oxlint-disable-next-line typescript/unbound-method -- called with the connection as `this`
const execute = Database.prototype.exec;

let files: TestDatabase;
let engine: SqliteEngine;
let other: Database.Database;
let reasons: Error[];

beforeEach(() => {
  files = sqliteDatabase();
  reasons = [];
  engine = new SqliteEngine(files.place, { onBrokenConnection: (error) => reasons.push(error) });
  other = new Database(files.place);
  other.exec(`
    create table notes (id integer primary key, body text) strict;
    with recursive n (i) as (select 1 union all select i + 1 from n where i < 200) insert into notes select i, '' from n;
  `);
});

afterEach(async () => {
  prepare.mockClear();
  other.close();
  await engine.close();
  await files.remove();
});

async function count(): Promise<unknown> {
  const [row] = await engine.all('select count(*) as count from notes');
  return row?.['count'];
}

async function currentConnection(): Promise<Database.Database> {
  await engine.all('select 1');
  return prepare.mock.contexts.at(-1) as Database.Database;
}

/** Other processes see what the engine writes, and the engine sees what they write. */
async function expectUpToDate(): Promise<void> {
  const before = Number(await count());
  other.exec("insert into notes (body) values ('theirs')");
  expect(await count()).toBe(before + 1);
  await engine.run("insert into notes (body) values ('ours')");
  expect(other.prepare('select count(*) as count from notes').all([])).toEqual([{ count: before + 2 }]);
}

/** Another process has the lock when `work` makes its first try. */
async function whileLocked(work: () => Promise<unknown>): Promise<unknown> {
  other.exec("begin immediate; update notes set body = 'locked' where id = 2");
  const running = work();
  await nextTurn();
  other.exec('commit');
  return await running;
}

it('an update that returns rows commits after it waited for the lock of another process', async () => {
  const update = async (): Promise<unknown> =>
    await engine.all("update notes set body = 'new' where id = 1 returning id");
  expect(await whileLocked(update)).toEqual([{ id: 1 }]);
  expect(other.prepare('select body from notes where id = 1').all([])).toEqual([{ body: 'new' }]);
  await expectUpToDate();
  expect(reasons).toEqual([]);
});

it.each(["update notes set body = 'new' where id = 1", "INSERT OR REPLACE INTO notes (id, body) values (1, 'new')"])(
  'a common table expression that is followed by a write is not run as a read: %s',
  async (write) => {
    const sql = `with one as (select 1)\n${write} returning id`;
    expect(await whileLocked(async () => await engine.all(sql))).toEqual([{ id: 1 }]);
    expect(reasons).toEqual([]);
    await expectUpToDate();
  },
);

it('a common table expression without a write is read while another process has the lock', async () => {
  other.exec('begin immediate');
  expect(await engine.all('with one as (select 1 as updated) select updated from one')).toEqual([{ updated: 1 }]);
  other.exec('rollback');
});

it('a statement that had to wait for a lock while it was run as a read gets another connection', async () => {
  await whileLocked(async () => await engine.all('pragma user_version = 77'));
  expect(reasons[0]).toMatchObject({ code: 'SQLITE_BUSY' });
  expect(await engine.all('pragma user_version')).toEqual([{ user_version: 77 }]);
  await expectUpToDate();
});

it('a replacement that finds the file locked waits without blocking the event loop', async () => {
  const connection = await currentConnection();
  connection.prepare('select * from notes').iterate([]).next();
  other.exec("insert into notes (body) values ('unseen')");
  const connects: string[] = [];
  const exec = vi.spyOn(Database.prototype, 'exec').mockImplementation(function (this: Database.Database, sql) {
    if (!sql.includes('journal_mode')) return execute.call(this, sql);
    connects.push(sql);
    if (connects.length < 3) throw Object.assign(new Error('database is locked'), { code: 'SQLITE_BUSY' });
    return execute.call(this, sql);
  });
  try {
    await engine.run("insert into notes (body) values ('ours')");
  } finally {
    exec.mockRestore();
  }
  expect(connects).toHaveLength(3);
  for (const sql of connects) expect(sql).toContain('busy_timeout = 0;');
  expect(reasons).toHaveLength(1);
  expect(await count()).toBe(202);
});

it('a connection whose read never ended is replaced by the next write, which succeeds', async () => {
  const connection = await currentConnection();
  connection.prepare('select * from notes').iterate([]).next();
  expect(await count()).toBe(200);
  other.exec("insert into notes (body) values ('unseen')");
  // This is the stuck state: the read that never ended keeps the old view.
  expect(await count()).toBe(200);
  await engine.run("insert into notes (body) values ('ours')");
  expect(reasons).toMatchObject([{ code: 'SQLITE_BUSY_SNAPSHOT' }]);
  expect(await count()).toBe(202);
  await expectUpToDate();
});

it('a connection that cannot commit because a statement is half done is replaced, and nothing of it is written', async () => {
  const connection = await currentConnection();
  other.exec('begin immediate');
  expect(() => connection.prepare("update notes set body = 'half done' where id = 1").run([])).toThrow('locked');
  other.exec('rollback');
  const write = engine.run("insert into notes (body) values ('ours')");
  await expect(write).rejects.toMatchObject({ code: 'storage_unavailable' });
  expect(reasons).toMatchObject([{ code: 'SQLITE_BUSY' }]);
  expect(await count()).toBe(200);
  await expectUpToDate();
});
