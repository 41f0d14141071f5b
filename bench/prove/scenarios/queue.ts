// A long queue and history of asynchronous renders on SQLite, which runs on the event loop. While the server claims and
// renders them, every other response must come as quickly as before.

import { request } from 'node:http';
import path from 'node:path';
import { text } from 'node:stream/consumers';
import { setTimeout as wait } from 'node:timers/promises';
import Database from 'libsql';
import { multipart } from '../client.ts';
import { milliseconds, quantile } from '../figures.ts';
import { CAPTION, query } from '../invariants.ts';
import { closedLoad, latency, served, servedShare } from '../load.ts';
import type { Subject } from '../subject.ts';
import type { Fixture, Scenario, World } from '../world.ts';

const FINISHED = 20_000;
const BATCHES = 10;
const RENDERS_PER_BATCH = 100;
const PING_EVERY_MS = 10;
/** The maximum delay of a response compared with an idle server. */
const MAX_EXTRA_MS = 50;
const MIN_SERVED = 0.99;
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

async function prove(world: World, { subject, request: render }: Fixture) {
  const seconds = world.choose(6, 60);
  const busy = subject.account(0);
  addHistory(subject, busy.accountId);
  const body = multipart({ text: CAPTION, width: '200', height: '200' });
  const customer = async (forSeconds: number) =>
    await closedLoad(1, forSeconds, async () => await render({ key: subject.account(1).key, body }));
  const watched = async () => await Promise.all([customer(seconds), pings(subject, seconds)]);
  const [alone, quiet] = await watched();
  for (let count = 0; count < BATCHES; count += 1) await sendBatch(subject, busy.key);
  const before = waitingRenders(subject);
  const [beside, loud] = await watched();
  const claimed = before - waitingRenders(subject);
  cancelRest(subject);
  const limit = quantile(quiet, 0.999) + MAX_EXTRA_MS;
  const late = quantile(loud, 0.999);
  world.figure('ping p99.9 without a queue', milliseconds(quantile(quiet, 0.999)));
  world.figure(`ping p99.9 with ${before} renders waiting`, milliseconds(late), {
    target: `<= ${milliseconds(limit)}`,
    met: late <= limit,
  });
  world.figure('renders of the batches that ended', String(claimed), { target: '> 0', met: claimed > 0 });
  world.atLeast(`customer served (of ${beside.responses.length})`, servedShare(beside.responses), MIN_SERVED);
  world.figure('customer p50 alone', latency(served(alone.responses), 0.5));
  world.figure('customer p50 beside the batches', latency(served(beside.responses), 0.5));
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
  const { status, text: problem } = await exchange(target, '/v1/batches', key, JSON.stringify({ requests }));
  if (status !== 202) throw new Error(`a batch got ${status}: ${problem}`);
}

/** Ends the scenario in time, however slow the machine is. Running renders end by themselves. */
function cancelRest(subject: Subject): void {
  const database = new Database(path.join(subject.dataDirectory, 'storybar.db'));
  database.pragma('busy_timeout = 10000');
  database.exec("update renders set status = 'canceled', finished_at = created_at where status = 'queued'");
  database.close();
}

/**
 * Returns the milliseconds of each ping. They are sent on a schedule, so that a stalled server can't hide any of them.
 */
async function pings({ target }: Subject, seconds: number): Promise<number[]> {
  const started = performance.now();
  const pending: Promise<number>[] = [];
  for (let due = started; due < started + seconds * 1_000; due += PING_EVERY_MS) {
    await wait(Math.max(0, due - performance.now()));
    const sent = performance.now();
    pending.push(exchange(target, '/ping').then(() => performance.now() - sent));
  }
  return await Promise.all(pending);
}

/** Uses the agent of the target, whose connections are closed before leftovers are counted. */
async function exchange(
  { url, agent }: Subject['target'],
  name: string,
  key?: string,
  body?: string,
): Promise<{ readonly status: number; readonly text: string }> {
  const headers = { ...(key !== undefined && { 'x-api-key': key }), 'content-type': 'application/json' };
  return await new Promise((resolve, reject) => {
    const options = { agent, ...(body !== undefined && { method: 'POST', headers }) };
    const outgoing = request(new URL(name, url), options, (response) => {
      text(response).then((received) => resolve({ status: response.statusCode ?? 0, text: received }), reject);
    });
    outgoing.on('error', reject).end(body);
  });
}
