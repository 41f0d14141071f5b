// Several processes on one database, some of which are killed while they work.

import { type ChildProcess, spawn } from 'node:child_process';
import path from 'node:path';
import { afterEach, beforeEach, describe, expect, inject, it } from 'vitest';
import { reconcile } from '../../src/service/store/ledger/reconcile.ts';
import { text } from '../../src/service/store/rows.ts';
import { createStore } from '../../src/service/store/store.ts';
import { isGone } from '../../src/service/store/owner.ts';
import { NO_POSTGRES } from '../postgres-server.ts';
import { until } from '../running-server.ts';
import { postgresDatabase, sqliteDatabase, type TestDatabase } from './databases.ts';
import { World } from './world.ts';

const CHILD = path.resolve(import.meta.dirname, 'ledger-child.js');
/** The same number as in `ledger-child.js`. */
const PARALLEL = 8;
const LOAD_TIMEOUT_MS = 90_000;
const url = inject('postgresUrl');

interface Child {
  readonly process: ChildProcess;
  /** The exit code, or null if it was killed. */
  readonly exited: Promise<number | null>;
  readonly lines: () => string[];
}

function start(...args: string[]): Child {
  const child = spawn(process.execPath, [CHILD, ...args], { stdio: ['ignore', 'pipe', 'inherit'] });
  let output = '';
  child.stdout.setEncoding('utf8').on('data', (part: string) => (output += part));
  // `close` rather than `exit`, because by then all output has been read.
  const exited = new Promise<number | null>((resolve) => child.once('close', resolve));
  return { process: child, exited, lines: () => output.split('\n').slice(0, -1) };
}

const idsOf = (lines: string[], event: string): string[] =>
  lines.filter((line) => line.startsWith(`${event} `)).map((line) => line.slice(event.length + 1));

describe.each([
  ['SQLite', async (): Promise<TestDatabase> => sqliteDatabase(), false],
  [`PostgreSQL${url === '' ? `: ${NO_POSTGRES}` : ''}`, async () => await postgresDatabase(url), url === ''],
])('processes on %s', (_name, create, skip) => {
  let world: World;
  beforeEach(async () => {
    world = await World.begin(await create());
    // The other processes use the real clock.
    world.goTo(new Date().toISOString());
  });
  afterEach(async () => await world.database.remove());

  it.skipIf(skip)(
    'several processes together are granted 100 of the 500 credits that they try to reserve',
    async () => {
      const id = await world.account();
      const children = [1, 2, 3, 4].map(() => start(world.database.place, id, 'some', '125'));
      expect(await Promise.all(children.map(async ({ exited }) => await exited))).toEqual([0, 0, 0, 0]);
      const granted = children.map(({ lines }) => Number(idsOf(lines(), 'granted')[0]));
      expect(granted.reduce((sum, count) => sum + count, 0)).toBe(100);
      expect(await world.balance(id)).toEqual({ used: 0, reserved: 100 });
    },
  );

  it.skipIf(skip)(
    'processes that are killed charge no undelivered render, and lose at most the renders in flight',
    async () => {
      const id = await world.account();
      const delivered = new Set<string>();
      const acknowledged = new Set<string>();
      for (let round = 1; round <= 3; round += 1) {
        const child = start(world.database.place, id, 'load');
        await until(() => {
          if (child.process.exitCode !== null) throw new Error(`the process exited with ${child.process.exitCode}`);
          return idsOf(child.lines(), 'settled').length > round * 40;
        }, LOAD_TIMEOUT_MS);
        child.process.kill('SIGKILL');
        await child.exited;
        for (const render of idsOf(child.lines(), 'delivered')) delivered.add(render);
        for (const render of idsOf(child.lines(), 'settled')) acknowledged.add(render);

        await createStore(world.engine).ledger.sweep(isGone);
        const rows = await world.engine.all("select id from holds where state = 'settled'");
        const charged = new Set(rows.map((row) => text(row, 'id')));
        expect([...charged].filter((render) => !delivered.has(render))).toEqual([]);
        expect([...acknowledged].filter((render) => !charged.has(render))).toEqual([]);
        expect(delivered.size - charged.size).toBeLessThanOrEqual(PARALLEL * round);
        expect(await world.balance(id)).toEqual({ used: charged.size, reserved: 0 });
        expect(await reconcile(world.engine)).toEqual([]);
      }
    },
  );
});
