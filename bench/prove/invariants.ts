// What must be true after every scenario, however it went: money equals deliveries, and nothing is left.

import path from 'node:path';
import Database from 'libsql';
import { until } from '../../test/running-server.ts';
import type { Journal } from './journal.ts';
import { childrenOf, descriptorsOf } from './processes.ts';
import type { Subject } from './subject.ts';

export interface Allowed {
  /** Deliveries that may be missing in the ledger: those in flight when the server was killed. */
  readonly unpaid?: number;
  /** Accounts whose clients went away, so that nobody knows what reached them. */
  readonly unsure?: ReadonlySet<string>;
}

/** Time for the last answers to be settled and the last directories to go. */
const SETTLE_MS = 15_000;
/** Timers, the resolver and the like come and go. */
const SPARE_DESCRIPTORS = 4;

/** Every fault found, empty when all is well. */
export async function findFaults(subject: Subject, journal: Journal, allowed: Allowed = {}): Promise<string[]> {
  const faults = journal.faults.map((fault) => explain(fault, subject.log));
  if (!subject.lives) return [...faults, `the server ended: ${subject.log.slice(-300)}`];
  subject.target.agent.destroy();
  faults.push(...(await findLeftovers(subject)));
  faults.push(...findMoneyFaults(subject, journal, allowed));
  faults.push(...findLogFaults(subject));
  if (subject.canaries.visits() > 0) faults.push(`${subject.canaries.visits()} connections to a canary`);
  return faults;
}

/** With what the log says of the render. */
function explain(fault: string, log: string): string {
  const id = /render (?<id>[\w-]{36})/u.exec(fault)?.groups?.['id'];
  const line = id && log.split('\n').find((entry) => entry.includes(id) && entry.includes('"err"'));
  return line ? `${fault}: ${line.slice(0, 1_500)}` : fault;
}

async function findLeftovers(subject: Subject): Promise<string[]> {
  await subject.allReady();
  const count = async (): Promise<Record<string, number>> => {
    const { renders, cells } = subject.directories();
    const { images, videos } = (await subject.health()).renderer;
    const workers = images.workers + videos.workers;
    return {
      'render directories': renders.length,
      'cells too many': Math.max(0, cells.length - workers),
      'processes too many': Math.max(0, childrenOf(subject.pid).length - workers),
      'descriptors too many': Math.max(0, descriptorsOf(subject.pid) - subject.descriptorsAtStart - SPARE_DESCRIPTORS),
      'renders waiting or running': images.waiting + videos.waiting + images.busy + videos.busy,
      reservations: Number(read(subject, "select count(*) as held from renders where state = 'reserved'")[0]?.['held']),
      ...(await gaugesOf(subject)),
    };
  };
  let counts = await count();
  const isClean = async (): Promise<boolean> => {
    counts = await count();
    return Object.values(counts).every((left) => left === 0);
  };
  await until(isClean, SETTLE_MS).catch(() => undefined);
  return Object.entries(counts)
    .filter(([, left]) => left > 0)
    .map(([what, left]) => `left over: ${left} ${what}`);
}

/** What the server holds in memory for requests under way. */
async function gaugesOf({ target }: Subject): Promise<Record<string, number>> {
  const text = await (await fetch(`${target.url}/metrics`)).text();
  const gauge = (name: string): number => Number(new RegExp(`^${name} (\\d+)`, 'mu').exec(text)?.[1] ?? Number.NaN);
  return {
    'bytes of uploads promised': gauge('storybar_uploads_promised_bytes'),
    'places of accounts taken': gauge('storybar_requests_inside'),
  };
}

function findMoneyFaults(
  subject: Subject,
  { delivered }: Journal,
  { unpaid = 0, unsure = new Set() }: Allowed,
): string[] {
  const faults: string[] = [];
  const settled = new Map<string, number>();
  for (const row of read(subject, "select id, account_id as account, credits from renders where state = 'settled'")) {
    const id = String(row['id']);
    settled.set(id, Number(row['credits']));
    const isKnown = delivered.has(id) || unsure.has(String(row['account']));
    if (!isKnown) faults.push(`overcharge: ${id} was paid for and not delivered`);
    else if (delivered.has(id) && delivered.get(id) !== Number(row['credits'])) {
      faults.push(`${id} cost ${Number(row['credits'])}, its answer said ${delivered.get(id)}`);
    }
  }
  const missing = [...delivered.keys()].filter((id) => !settled.has(id)).length;
  if (missing > unpaid) faults.push(`undercharge: ${missing} deliveries without a charge, ${unpaid} allowed`);
  const sum = [...settled.values()].reduce((a, b) => a + b, 0);
  const [books] = read(
    subject,
    'select coalesce(sum(used), 0) as used, coalesce(sum(reserved), 0) as held from periods',
  );
  if (books?.['used'] !== sum) faults.push(`accounts were charged ${String(books?.['used'])}, renders cost ${sum}`);
  if (books?.['held'] !== 0) faults.push(`${String(books?.['held'])} credits are still held`);
  return faults.slice(0, 5);
}

function findLogFaults({ log, holders, canaries }: Subject): string[] {
  const faults: string[] = [];
  // The part after the prefix: a key without it would be one all the same.
  const secrets = holders.map(({ key }) => key.replace(/^sb_\w+?_/u, ''));
  if (secrets.some((secret) => log.includes(secret))) faults.push('a key is in the log');
  if (canaries.secrets.some((secret) => log.includes(secret))) faults.push('a canary is in the log');
  if (log.includes(CAPTION)) faults.push('a caption is in the log');
  return faults;
}

/** What every scenario writes on its pictures. */
export const CAPTION = 'Caption nobody should log';

export function read(subject: Subject, statement: string): Record<string, unknown>[] {
  const database = new Database(path.join(subject.dataDirectory, 'storybar.db'));
  try {
    return database.prepare(statement).all([]) as Record<string, unknown>[];
  } finally {
    database.close();
  }
}
