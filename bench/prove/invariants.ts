// Invariants that must hold after every scenario: charges equal deliveries, and nothing is left over.

import path from 'node:path';
import Database from 'libsql';
import { until, WITH_METRICS_TOKEN } from '../../test/running-server.ts';
import type { Journal } from './journal.ts';
import { childrenOf, openDescriptors } from './processes.ts';
import type { Subject } from './subject.ts';

export interface Tolerance {
  /** Deliveries that may lack a charge because they were in flight when the server was killed. */
  readonly uncharged?: number;
  /** Accounts whose clients disconnected, so the journal doesn't know what the server sent to them. */
  readonly uncertain?: ReadonlySet<string>;
}

/** Time to settle the last charges and to remove the last directories. */
const SETTLE_MS = 15_000;
/** Node opens and closes a few descriptors of its own, for the DNS resolver for example. */
const OWN_DESCRIPTORS = 4;
/** The descriptors of the worker for short videos, which starts with the first video. */
const WORKER_DESCRIPTORS = 3;
const SPARE_DESCRIPTORS = OWN_DESCRIPTORS + WORKER_DESCRIPTORS;

/** Returns one line for each violated invariant. */
export async function findViolations(subject: Subject, journal: Journal, tolerance: Tolerance = {}): Promise<string[]> {
  const violations = journal.violations.map((violation) => withLogEntry(violation, subject.log));
  if (subject.hasCrashed) return [...violations, `the server crashed: ${subject.log.slice(-300)}`];
  subject.target.agent.destroy();
  violations.push(...(await findLeftovers(subject)));
  violations.push(...checkCharges(subject, journal, tolerance));
  violations.push(...checkLog(subject));
  const connections = subject.canaries.connections();
  if (connections > 0) violations.push(`${connections} connections to the canary listener`);
  return violations;
}

/** Appends the error that the server logged for the render. */
function withLogEntry(violation: string, log: string): string {
  const id = /render (?<id>[\w-]{36})/u.exec(violation)?.groups?.['id'];
  const line = id && log.split('\n').find((entry) => entry.includes(id) && entry.includes('"err"'));
  return line ? `${violation}: ${line.slice(0, 1_500)}` : violation;
}

async function findLeftovers(subject: Subject): Promise<string[]> {
  await subject.waitUntilReady();
  const count = async (): Promise<Record<string, number>> => {
    const directories = subject.directories();
    const { images, videos } = (await subject.health()).renderer;
    const workers = images.workers + videos.workers;
    return {
      'render directories': directories.renders.length,
      'worker directories': Math.max(0, directories.workers.length - workers),
      processes: Math.max(0, childrenOf(subject.pid).length - workers),
      'file descriptors': Math.max(0, openDescriptors(subject.pid) - subject.descriptorsAtStart - SPARE_DESCRIPTORS),
      'renders waiting or running': images.waiting + videos.waiting + images.busy + videos.busy,
      reservations: Number(query(subject, "select count(*) as held from holds where state = 'reserved'")[0]?.['held']),
      ...(await gaugesOf(subject)),
    };
  };
  let counts = await count();
  const isClean = async (): Promise<boolean> => {
    counts = await count();
    return Object.values(counts).every((surplus) => surplus === 0);
  };
  await until(isClean, SETTLE_MS).catch(() => undefined);
  return Object.entries(counts)
    .filter(([, surplus]) => surplus > 0)
    .map(([what, surplus]) => `left over: ${surplus} ${what}`);
}

/** Reads what the server holds in memory for requests in flight. */
async function gaugesOf({ target }: Subject): Promise<Record<string, number>> {
  const text = await (await fetch(`${target.url}/metrics`, WITH_METRICS_TOKEN)).text();
  const gauge = (name: string): number => Number(new RegExp(`^${name} (\\d+)`, 'mu').exec(text)?.[1] ?? Number.NaN);
  return {
    'bytes of upload budget': gauge('storybar_uploads_promised_bytes'),
    'concurrency slots': gauge('storybar_requests_inside'),
  };
}

function checkCharges(
  subject: Subject,
  { delivered }: Journal,
  { uncharged = 0, uncertain = new Set() }: Tolerance,
): string[] {
  const violations: string[] = [];
  const settled = new Map<string, number>();
  for (const row of query(
    subject,
    "select id, account_id as account, outcome, credits from holds where state = 'settled'",
  )) {
    const id = String(row['id']);
    settled.set(id, Number(row['credits']));
    // The client broke off the delivery after it had used up its allowance.
    const isAborted = row['outcome'] === 'aborted';
    const isKnown = isAborted || delivered.has(id) || uncertain.has(String(row['account']));
    if (!isKnown) violations.push(`overcharge: render ${id} was charged but not delivered`);
    // The whole file of an aborted delivery can only come from a repetition, which is free.
    else if (!isAborted && delivered.has(id) && delivered.get(id) !== Number(row['credits'])) {
      violations.push(`render ${id} cost ${Number(row['credits'])}, but x-credits-charged was ${delivered.get(id)}`);
    }
  }
  const missing = [...delivered.keys()].filter((id) => !settled.has(id)).length;
  if (missing > uncharged) violations.push(`undercharge: ${missing} deliveries without a charge, ${uncharged} allowed`);
  const sum = [...settled.values()].reduce((a, b) => a + b, 0);
  const [totals] = query(
    subject,
    'select coalesce(sum(used), 0) as used, coalesce(sum(reserved), 0) as held from periods',
  );
  if (totals?.['used'] !== sum)
    violations.push(`accounts were charged ${String(totals?.['used'])}, renders cost ${sum}`);
  if (totals?.['held'] !== 0) violations.push(`${String(totals?.['held'])} credits are still reserved`);
  return violations.slice(0, 5);
}

function checkLog({ log, accounts, canaries }: Subject): string[] {
  const violations: string[] = [];
  // The prefix is removed, because a key logged without it would leak just the same.
  const secrets = accounts.map(({ key }) => key.replace(/^sb_\w+?_/u, ''));
  if (secrets.some((secret) => log.includes(secret))) violations.push('a key is in the log');
  if (canaries.secrets.some((secret) => log.includes(secret))) violations.push('a canary is in the log');
  if (log.includes(CAPTION)) violations.push('a caption is in the log');
  return violations;
}

/** The caption of every request, which must not appear in the log. */
export const CAPTION = 'Caption that must not be logged';

/** Queries the database of the running server. */
export function query(subject: Subject, statement: string): Record<string, unknown>[] {
  const database = new Database(path.join(subject.dataDirectory, 'storybar.db'));
  // The server may be writing.
  database.pragma('busy_timeout = 10000');
  try {
    return database.prepare(statement).all([]) as Record<string, unknown>[];
  } finally {
    database.close();
  }
}
