// The operator's commands of the built program on a data directory of their own, with text and JSON output.

import { execFile } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir, userInfo } from 'node:os';
import path from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest';
import { hashKey } from '../src/service/account/api-key.ts';
import { parsePlans } from '../src/service/account/plans.ts';
import { SCHEMA } from '../src/service/store/migrations.ts';
import { createStore } from '../src/service/store/store.ts';
import { SqliteEngine } from '../src/service/store/sqlite-engine.ts';
import { createDatabase, NO_POSTGRES } from './postgres-server.ts';
import { type CommandResult, runCommand } from './run-command.ts';
import { DELIVERED } from './store/world.ts';

const ROOT = path.resolve(import.meta.dirname, '..');
const ACTOR = `cli:${userInfo().username}`;
const url = inject('postgresUrl');

let folder: string;
beforeAll(() => {
  folder = mkdtempSync(path.join(tmpdir(), 'storybar-operator-'));
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const environmentWith = (changes: Record<string, string> = {}): Record<string, string> => ({
  PATH: process.env['PATH'] ?? '',
  STORYBAR_DATA_DIR: path.join(folder, 'data'),
  ...changes,
});

async function storybar(args: readonly string[], environment: Record<string, string> = {}): Promise<CommandResult> {
  return await runCommand(args, { cwd: folder, env: environmentWith(environment) });
}

/** Like `storybar`, in a process of its own. */
async function storybarProcess(...args: string[]): Promise<CommandResult> {
  const program = path.join(ROOT, 'bin/storybar.js');
  const place = { cwd: folder, env: environmentWith() };
  return await promisify(execFile)(process.execPath, [program, ...args], place).then(
    ({ stdout, stderr }) => ({ code: 0, stdout, stderr }),
    ({ code, stdout, stderr }: CommandResult) => ({ code, stdout, stderr }),
  );
}

async function json<Data>(...args: string[]): Promise<Data> {
  const { code, stdout, stderr } = await storybar([...args, '--json']);
  if (code !== 0) throw new Error(`${args.join(' ')} ended with ${code}: ${stderr}`);
  return JSON.parse(stdout) as Data;
}

async function account(plan = 'pro'): Promise<string> {
  return (await json<{ id: string }>('accounts', 'create', '--plan', plan, '--name', 'Ann')).id;
}

/** Records a render in the same way as a server. */
async function render(accountId: string, credits: number, end: 'settle' | 'none' = 'settle'): Promise<void> {
  const engine = new SqliteEngine(path.join(folder, 'data', 'storybar.db'));
  const { accounts, ledger } = createStore(engine);
  const period = (await accounts.find(accountId))?.subscription?.period;
  if (period === undefined) throw new Error('no subscription');
  const renderId = `${accountId}-${credits}-${end}`;
  const usual = { keyId: undefined, mode: 'live', kind: 'image', limit: 10_000 } as const;
  await ledger.reserve({ renderId, accountId, credits, period, ...usual });
  if (end === 'settle') await ledger.settle(renderId, DELIVERED);
  await engine.close();
}

describe('storybar accounts', () => {
  it('creates, lists and shows accounts', async () => {
    const id = await account('pro');
    await render(id, 30);
    await render(id, 5, 'none');
    const shown = await json<{ credits: unknown; keys: unknown[]; subscription: { plan: string } }>(
      'accounts',
      'show',
      id,
    );
    expect(shown).toMatchObject({
      id,
      name: 'Ann',
      state: 'active',
      subscription: { plan: 'pro', renews: true },
      keys: [],
      credits: { used: 30, reserved: 5, limit: 10_000, remaining: 9_965 },
    });
    const { stdout } = await storybar(['accounts', 'show', id]);
    expect(stdout).toContain('0 deliveries, 0 of them charged; 20 are free in this period');
    expect(stdout).toContain('30 used, 5 reserved, 9965 of 10000 left');
    expect(stdout).toMatch(/^plan {5}pro, renews \d{4}-\d\d-\d\d \d\d:\d\d$/mu);
    const list = (await storybar(['accounts', 'list'])).stdout.split('\n');
    expect(list[0]).toMatch(/^id +name +state +plan +period ends +created$/u);
    expect(list.find((line) => line.startsWith(id))).toMatch(/ Ann +active +pro +\d{4}-\d\d-\d\d +\d{4}-\d\d-\d\d$/u);
    expect(await json('accounts', 'list', '--count', '1')).toHaveLength(1);
    expect(await json('accounts', 'list', '--after', id)).toEqual([]);
  });

  it('upgrades immediately, downgrades in the next period, and downgrades immediately with --now', async () => {
    const id = await account('starter');
    const after = async (...words: string[]): Promise<unknown> =>
      (await json<{ subscription: unknown }>('accounts', 'plan', id, ...words)).subscription;
    expect(await after('pro')).toMatchObject({ plan: 'pro', nextPlan: null });
    expect(await after('free')).toMatchObject({ plan: 'pro', nextPlan: 'free' });
    expect((await storybar(['accounts', 'show', id])).stdout).toMatch(/pro, then free from \d{4}-/u);
    expect(await after('pro')).toMatchObject({ plan: 'pro', nextPlan: null });
    expect(await after('free', '--now')).toMatchObject({ plan: 'free', nextPlan: null });
  });

  it('cancels, renews, suspends and resumes, and records the operating system user in the audit log', async () => {
    const id = await account('free');
    expect((await storybar(['accounts', 'cancel', id])).stdout).toMatch(/: free, ends \d{4}/u);
    expect((await storybar(['accounts', 'renew', id])).stdout).toMatch(/: free, renews \d{4}/u);
    expect(await json('accounts', 'suspend', id)).toEqual({ id, state: 'suspended' });
    expect((await storybar(['accounts', 'resume', id])).stdout).toBe(`Account ${id} is active.\n`);
    const entries = await json<{ actor: string; action: string }[]>('audit', '--account', id);
    expect(entries.map(({ actor, action }) => `${actor} ${action}`).toReversed()).toEqual(
      ['account.created', 'subscription.plan', 'subscription.canceled', 'subscription.resumed']
        .concat(['account.suspended', 'account.resumed'])
        .map((action) => `${ACTOR} ${action}`),
    );
  });

  it('renews a subscription that has ended', async () => {
    const id = await account('free');
    const engine = new SqliteEngine(path.join(folder, 'data', 'storybar.db'));
    const past = createStore(engine, () => new Date('2026-01-01T00:00:00Z'));
    await past.accounts.setRenews(id, false, 'test');
    await engine.run('update subscriptions set period_ends_at = :periodEndsAt where account_id = :id', {
      periodEndsAt: '2026-01-02T00:00:00.000Z',
      id,
    });
    await engine.close();
    expect(await json('accounts', 'show', id)).toMatchObject({ state: 'inactive' });
    expect(await storybar(['accounts', 'cancel', id])).toMatchObject({ code: 77 });
    await json('accounts', 'renew', id);
    expect(await json('accounts', 'show', id)).toMatchObject({ state: 'active', subscription: { plan: 'free' } });
  });

  it('refuses to change a subscription that a marketplace manages', async () => {
    const engine = new SqliteEngine(path.join(folder, 'data', 'storybar.db'));
    await createStore(engine).accounts.upsertMarketplaceAccount('rapidapi:bob', 'free', 'marketplace:rapidapi');
    await engine.close();
    for (const words of [
      ['plan', 'rapidapi:bob', 'pro'],
      ['cancel', 'rapidapi:bob'],
      ['renew', 'rapidapi:bob'],
    ]) {
      expect(await storybar(['accounts', ...words])).toMatchObject({
        code: 64,
        stderr: expect.stringContaining('managed by the marketplace'),
      });
    }
    expect(await json('accounts', 'suspend', 'rapidapi:bob')).toMatchObject({ state: 'suspended' });
  });

  it.each([
    [['accounts', 'show'], 64, 'missing <id>; usage: storybar accounts show <id>'],
    [['accounts', 'show', 'unknown'], 65, 'Account "unknown" not found'],
    [['accounts', 'create'], 64, 'missing --plan <plan>; usage: storybar accounts create --plan <plan>'],
    [['accounts', 'create', '--plan', 'gold'], 64, 'unknown plan "gold"; the plans are free, starter'],
    [['accounts', 'list', 'all'], 64, 'unexpected argument "all"'],
    [['accounts', 'list', '--now'], 64, '--now does not apply here'],
    [['keys', 'create'], 64, 'give --plan for a new account (free, starter'],
    [['keys', 'create', '--plan', 'free', '--account', 'x'], 64, 'give either --account or --plan'],
    [['users', 'promote', 'ann'], 64, '"ann" isn\'t a valid email address'],
    [['accounts', 'plan', 'unknown', 'pro'], 65, 'Account "unknown" not found'],
    [['accounts', 'list', '--count', 'many'], 64, '--count must be a whole number'],
    [['accounts', 'close', 'x'], 64, 'the actions are list, show, create'],
    [['usage', '--from', '2026-02-30'], 64, '--from must be a date such as'],
    [['usage', '--from', '2026-02-03', '--to', '2026-02-01'], 64, 'is after'],
    [['usage', '--account', 'unknown'], 65, 'Account "unknown" not found'],
    [['audit', '--count', '0'], 64, 'at least 1'],
    [['keys', 'rename', 'unknown', 'x'], 65, 'Key "unknown" not found'],
    [['plans', 'sell'], 64, 'the actions are list, check'],
    [['db', 'copy', '--from', 'sqlite:a.db'], 64, 'missing --to <db>'],
    [['db', 'copy', '--from', 'mysql://x', '--to', 'sqlite:b.db'], 64, '--from must begin with'],
    [['db', 'copy', '--from', 'sqlite:nowhere.db', '--to', 'sqlite:b.db'], 64, 'there is no file nowhere.db'],
  ])('storybar %j exits with %i', async (args, code, message) => {
    const text = await storybar(args);
    expect(text).toMatchObject({ code, stdout: '', stderr: expect.stringContaining(message) });
    const { error } = JSON.parse((await storybar([...args, '--json'])).stderr) as { error: { message: string } };
    expect(error.message).toContain(message);
  });

  it.each(['accounts', 'keys', 'users', 'plans', 'usage', 'audit', 'db', 'doctor'])(
    '"storybar %s --help" prints its usage',
    async (command) => {
      const { code, stdout } = await storybarProcess(command, '--help');
      expect([code, stdout]).toEqual([0, expect.stringContaining(`Usage:\n  storybar ${command}`)]);
      expect((await storybar(['--help'])).stdout).toContain(`storybar ${command}`);
    },
  );
});

it('a command in a process of its own reports errors by its exit code and on stderr, as text and as JSON', async () => {
  const text = await storybarProcess('accounts', 'show', 'unknown');
  expect(text).toMatchObject({
    code: 65,
    stdout: '',
    stderr: expect.stringContaining('Account "unknown" not found'),
  });
  const asJson = await storybarProcess('accounts', 'show', 'unknown', '--json');
  expect([asJson.code, asJson.stdout]).toEqual([65, '']);
  expect(JSON.parse(asJson.stderr)).toMatchObject({ error: { message: expect.stringContaining('unknown') } });
});

describe('storybar keys', () => {
  it('rotates a key, keeps its name, mode and origins, and lets the old key work a while longer', async () => {
    const id = await account();
    const old = await json<{ id: string; key: string }>('keys', 'create', '--account', id, '--name', 'shop', '--test');
    await json('keys', 'origins', old.id, 'https://a.example', 'http://localhost:3000');
    const next = await json<{ id: string; key: string }>('keys', 'rotate', old.id, '--overlap', '2');
    const keys = await json<{ id: string; expiresAt: string | null }[]>('keys', 'list', '--account', id);
    const common = {
      name: 'shop',
      mode: 'test',
      state: 'active',
      allowedOrigins: ['https://a.example', 'http://localhost:3000'],
    };
    expect(keys).toEqual([
      expect.objectContaining({ ...common, id: old.id, expiresAt: expect.any(String) }),
      expect.objectContaining({ ...common, id: next.id, expiresAt: null }),
    ]);
    const remainingMs = Date.parse(keys[0]?.expiresAt ?? '') - Date.now();
    expect(remainingMs).toBeGreaterThan(3_600_000);
    expect(remainingMs).toBeLessThanOrEqual(7_200_000);
    expect((await storybar(['keys', 'list', '--account', id])).stdout).toMatch(/until \d{4}-/u);
    const engine = new SqliteEngine(path.join(folder, 'data', 'storybar.db'));
    expect(await createStore(engine).keys.find(hashKey(next.key))).toMatchObject({ keyId: next.id });
    await engine.close();
  });

  it('ends the old key immediately with --overlap 0, and cannot change an ended key', async () => {
    const { id } = await json<{ id: string }>('keys', 'create', '--plan', 'free');
    expect((await storybar(['keys', 'rotate', id, '--overlap', '0'])).stdout).toContain('has stopped working');
    expect(await storybar(['keys', 'rotate', id])).toMatchObject({ code: 65 });
    expect(await storybar(['keys', 'resume', id])).toMatchObject({ code: 65 });
  });

  it('renames a key, and accepts only origins without a path', async () => {
    const { id } = await json<{ id: string }>('keys', 'create', '--plan', 'free');
    expect(await json('keys', 'rename', id, 'web shop')).toEqual({ id, name: 'web shop' });
    const bad = await storybar(['keys', 'origins', id, 'https://a.example/', 'b.example']);
    expect(bad).toMatchObject({ code: 64, stderr: expect.stringContaining('https://a.example/, b.example') });
    expect(await json('keys', 'origins', id)).toEqual({ id, allowedOrigins: [] });
  });

  it('replaces control characters of names, which could change the terminal', async () => {
    await json('keys', 'create', '--plan', 'free', '--name', 'red\u001b[31m\u202e');
    const { stdout } = await storybar(['keys', 'list']);
    expect(stdout).toContain('red?[31m?');
    expect(stdout).not.toMatch(/[\u001b\u202e]/u);
  });
});

describe('storybar usage', () => {
  it('shows totals per account, and one account day by day', async () => {
    const id = await account();
    await render(id, 4);
    await render(id, 6);
    const { accounts } = await json<{ accounts: { accountId: string }[] }>('usage');
    expect(accounts.find(({ accountId }) => accountId === id)).toEqual({
      accountId: id,
      mode: 'live',
      renders: 2,
      delivered: 2,
      broken: 0,
      brokenCharged: 0,
      credits: 10,
    });
    const day = new Date().toISOString().slice(0, 10);
    expect(await json('usage', '--account', id)).toMatchObject({
      days: [{ day, mode: 'live', outcome: 'delivered', renders: 2, credits: 10 }],
    });
    expect((await storybar(['usage', '--account', id])).stdout).toMatch(/live +delivered +2 +10$/mu);
    expect((await storybar(['usage', '--from', '2020-01-01', '--to', '2020-01-31'])).stdout).toBe(
      'No renders from 2020-01-01 to 2020-01-31.\n',
    );
  });
});

describe('storybar plans', () => {
  it('prints a plans file that can be edited and used', async () => {
    const { stdout } = await storybar(['plans', '--json']);
    expect(parsePlans(JSON.parse(stdout)).names).toEqual(['free', 'starter', 'pro', 'business']);
    writeFileSync(path.join(folder, 'own.json'), stdout.replace('"credits": 100,', '"credits": 123,'));
    const own = await storybar(['plans', 'list'], { STORYBAR_PLANS: 'own.json' });
    expect(own.stdout).toMatch(/^free +Free +0\.00 +123 /mu);
    expect(own.stdout).toMatch(/ULTRA$/mu);
  });

  it('checks a plans file and reports every error in it', async () => {
    const example = path.join(ROOT, 'examples/plans.json');
    expect(parsePlans(JSON.parse(readFileSync(example, 'utf8'))).names).toEqual(['trial', 'team', 'studio']);
    expect(await storybar(['plans', 'check', example])).toMatchObject({
      code: 0,
      stdout: expect.stringContaining('is valid'),
    });
    writeFileSync(path.join(folder, 'bad.json'), '{"plans": [{"name": "A"}], "x": 1}');
    const { code, stderr } = await storybar(['plans', 'check', 'bad.json']);
    expect([code, stderr.split('\n').length]).toEqual([78, 8]);
    expect(stderr).toContain('plans[0].credits must be');
    writeFileSync(path.join(folder, 'broken.json'), '{');
    expect(await storybar(['plans', 'check', 'broken.json'])).toMatchObject({ code: 78 });
    expect(await storybar(['plans', 'check', 'absent.json'])).toMatchObject({ code: 78 });
  });
});

describe('storybar db', () => {
  it('migrates the schema, and reports totals that do not match the renders', async () => {
    expect(await json('db', 'migrate')).toEqual({
      schema: SCHEMA.version,
      compatibleFrom: expect.any(Number),
    });
    const id = await account();
    await render(id, 8);
    expect(await storybar(['db', 'check'])).toMatchObject({ code: 0, stdout: 'All totals match.\n' });
    const distort = async (change: number): Promise<void> => {
      const engine = new SqliteEngine(path.join(folder, 'data', 'storybar.db'));
      await engine.run(
        'update periods set used = used + :change, reserved = reserved + :change where account_id = :id',
        { change, id },
      );
      await engine.close();
    };
    await distort(2);
    const { code, stdout } = await storybar(['db', 'check', '--json']);
    expect(code).toBe(1);
    expect(JSON.parse(stdout)).toMatchObject([
      { what: 'reserved', accountId: id, sum: 2, rows: 0 },
      { what: 'usage', accountId: id, periodStartsAt: null, sum: 10, rows: 8 },
    ]);
    await distort(-2);
  });

  it('backs up a database that is in use, and never overwrites a file', async () => {
    const engine = new SqliteEngine(path.join(folder, 'data', 'storybar.db'));
    const live = createStore(engine);
    await live.ledger.heartbeat();
    expect(await json('db', 'backup', 'copy.db')).toEqual({ file: 'copy.db' });
    expect(await storybar(['db', 'backup', 'copy.db'])).toMatchObject({ code: 64 });
    const copy = new SqliteEngine(path.join(folder, 'copy.db'));
    expect(await createStore(copy).accounts.list()).toEqual(await live.accounts.list());
    await copy.close();
    await engine.close();
  });

  /** This process reserved credits in earlier tests, so its lease looks like that of a running server. */
  async function endLeases(): Promise<void> {
    const engine = new SqliteEngine(path.join(folder, 'data', 'storybar.db'));
    await engine.run('delete from owners');
    await engine.close();
  }

  it('copies only into an empty database', async () => {
    await endLeases();
    const from = `sqlite:${path.join('data', 'storybar.db')}`;
    const tables = await json<{ table: string; rows: number }[]>('db', 'copy', '--from', from, '--to', 'sqlite:new.db');
    expect(tables.find(({ table }) => table === 'accounts')?.rows).toBeGreaterThan(3);
    expect(await storybar(['db', 'copy', '--from', from, '--to', 'sqlite:new.db'])).toMatchObject({
      code: 64,
      stderr: expect.stringContaining('the target is not empty'),
    });
  });

  it.skipIf(url === '')(`copies to PostgreSQL and back${url === '' ? `: ${NO_POSTGRES}` : ''}`, async () => {
    await endLeases();
    const place = await createDatabase(url);
    const from = `sqlite:${path.join('data', 'storybar.db')}`;
    const there = await json('db', 'copy', '--from', from, '--to', place);
    expect(await json('db', 'copy', '--from', place, '--to', 'sqlite:back.db')).toEqual(there);
    const onServer = await storybar(['accounts', 'list', '--json'], { STORYBAR_DATABASE_URL: place });
    expect(JSON.parse(onServer.stdout)).toEqual(await json('accounts', 'list'));
    const backup = await storybar(['db', 'backup', 'x.db'], { STORYBAR_DATABASE_URL: place });
    expect(backup).toMatchObject({ code: 64, stderr: expect.stringContaining('pg_dump') });
  });

  it('names the setting of a database that cannot be opened, without its password', async () => {
    writeFileSync(path.join(folder, 'storybar.db'), 'not a database, but long enough to look at'.repeat(50));
    expect(await storybar(['db', 'check'], { STORYBAR_DATA_DIR: folder })).toMatchObject({
      code: 78,
      stderr: expect.stringContaining('STORYBAR_DATA_DIR'),
    });
    const nowhere = { STORYBAR_DATABASE_URL: 'postgres://x:secret@127.0.0.1:1/x' };
    const refused = await storybar(['db', 'check'], nowhere);
    // The database may come back, which sysexits(3) calls unavailable. 78 would tell systemd not to try again.
    expect(refused).toMatchObject({ code: 69, stderr: expect.stringContaining('STORYBAR_DATABASE_URL') });
    expect(refused.stderr).not.toContain('secret');
  });
});
