// A long queue and history of asynchronous renders on SQLite, which runs on the event loop. While the server claims and
// renders them, every other response must come as quickly as before.

import path from 'node:path';
import Database from 'libsql';
import { exchange, observe, report } from '../bystander.ts';
import { CAPTION, query } from '../invariants.ts';
import type { Subject } from '../subject.ts';
import type { Fixture, Scenario, World } from '../world.ts';

const FINISHED = 20_000;
const BATCHES = 10;
const RENDERS_PER_BATCH = 100;
/** The maximum delay of a response compared with an idle server. */
const MAX_EXTRA_MS = 50;
const ACTIVE = "select count(*) as n from renders where status in ('queued', 'rendering')";

export const queue: Scenario = {
  name: 'queue',
  about: `${BATCHES} batches of an account with ${FINISHED.toLocaleString('en')} finished renders, beside another account`,
  run: async (world) => {
    const settings = { STORYBAR_LOG_LEVEL: 'warn', STORYBAR_WORKERS: '2' };
    const plan = { limits: { queuedRenders: BATCHES * RENDERS_PER_BATCH } };
    await world.withServer({ accounts: 2, settings, plan }, async (fixture) => await prove(world, fixture));
  },
};

async function prove(world: World, fixture: Fixture) {
  const { subject } = fixture;
  const seconds = world.choose(6, 60);
  const busy = subject.account(0);
  addHistory(subject, busy.accountId);
  const other = subject.account(1).key;
  const quiet = await observe(fixture, seconds, other);
  for (let count = 0; count < BATCHES; count += 1) await sendBatch(subject, busy.key);
  const before = waitingRenders(subject);
  const beside = await observe(fixture, seconds, other);
  const claimed = before - waitingRenders(subject);
  cancelRest(subject);
  report(world, `${before} waiting renders`, { quiet, beside, maxExtraMs: MAX_EXTRA_MS });
  world.figure('renders of the batches that ended', String(claimed), { target: '> 0', met: claimed > 0 });
  return { uncertain: new Set([busy.accountId]) };
}

/** Adds renders that ended in the last hours. Their results have been deleted. */
function addHistory(subject: Subject, accountId: string): void {
  const database = new Database(path.join(subject.dataDirectory, 'storybar.db'));
  database.pragma('busy_timeout = 10000');
  const at = new Date(Date.now() - 3_600_000).toISOString();
  database
    .prepare(
      `with recursive numbers (n) as (select 1 union all select n + 1 from numbers where n < ${FINISHED})
       insert into renders (id, account_id, mode, status, lane, request, plan, period_starts_at, period_ends_at, renews,
         max_running, due_at, attempts, created_at, started_at, finished_at)
       select 'history-' || n, ?, 'live', 'succeeded', 'image', '{}', 'prove', ?, ?, 1, 8, ?, 1, ?, ?, ? from numbers`,
    )
    .run([accountId, at, at, at, at, at, at]);
  database.close();
}

function waitingRenders(subject: Subject): number {
  return Number(query(subject, ACTIVE)[0]?.['n']);
}

async function sendBatch({ target }: Subject, key: string): Promise<void> {
  const requests = Array.from({ length: RENDERS_PER_BATCH }, () => ({ text: CAPTION, width: 400, height: 300 }));
  const { status, text: problem } = await exchange(target, '/v1/batches', {
    key,
    body: JSON.stringify({ requests }),
  });
  if (status !== 202) throw new Error(`a batch got ${status}: ${problem}`);
}

/** Ends the scenario in time, however slow the machine is. Running renders end by themselves. */
function cancelRest(subject: Subject): void {
  const database = new Database(path.join(subject.dataDirectory, 'storybar.db'));
  database.pragma('busy_timeout = 10000');
  database.exec("update renders set status = 'canceled', finished_at = created_at where status = 'queued'");
  database.close();
}
