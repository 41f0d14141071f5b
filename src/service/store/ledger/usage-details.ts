// Usage per key, type and outcome. The sums of a past day are computed once, when they are first requested, and stored.
// Today's are computed each time, so no page has to read more than a day of single renders again. After a clock was wrong, renders
// can end on a day whose sums are stored. They are added to these.

import { setImmediate as yieldToEventLoop } from 'node:timers/promises';
import { KEY_MODES, type KeyMode } from '../../account/api-key.ts';
import { type Engine, first, insertRow, type SqlSession } from '../engine.ts';
import { integer, oneOf, type SqlRow, text, textOrNull, toRow } from '../rows.ts';
import type { Clock } from '../audit.ts';
import { type SqlCondition, rangesOf } from '../bounded/steps.ts';

const RENDER_KINDS = ['image', 'video', 'overlay'] as const;
export type RenderKind = (typeof RENDER_KINDS)[number];

export interface UsageDay {
  readonly day: string;
  readonly mode: KeyMode;
  readonly outcome: string;
  readonly renders: number;
  readonly credits: number;
}

/** Renders of one key and type on one day that ended in the same way. */
export interface UsageDetail extends UsageDay {
  /** Null for a request through a marketplace. */
  readonly keyId: string | null;
  readonly kind: RenderKind;
}

const DAY_MS = 24 * 3_600_000;
/** A render may end a little later by the clock of another server. */
const SETTLED_AFTER_MS = 3_600_000;

function toStored(row: SqlRow): Omit<UsageDetail, 'day'>[] {
  const details: unknown = JSON.parse(text(row, 'details'));
  if (!Array.isArray(details)) throw new TypeError('The stored details of a day are not a list.');
  return details.map(toRow).map((detail) => ({
    keyId: textOrNull(detail, 'keyId'),
    kind: oneOf(detail, 'kind', RENDER_KINDS),
    mode: oneOf(detail, 'mode', KEY_MODES),
    outcome: text(detail, 'outcome'),
    renders: integer(detail, 'renders'),
    credits: integer(detail, 'credits'),
  }));
}

export async function usageDetails(
  engine: Engine,
  clock: Clock,
  accountId: string,
  range: { readonly from: string; readonly to: string },
): Promise<UsageDetail[]> {
  const { from, to } = range;
  const rows = await engine.all(
    'select day, details from usage_details where account_id = :accountId and day >= :from and day <= :to',
    { accountId, from, to },
  );
  const stored = new Map(rows.map((row) => [text(row, 'day'), toStored(row)]));
  const details: UsageDetail[] = [];
  const added: (readonly [day: string, details: string])[] = [];
  for (const day of daysOf(from, to)) {
    const known = stored.get(day);
    const found = known ?? (await computeDay(engine, accountId, day));
    details.push(...found.map((detail) => ({ day, ...detail })));
    if (known !== undefined) continue;
    if (isOver(day, clock())) added.push([day, JSON.stringify(found)]);
    await yieldToEventLoop();
  }
  if (added.length > 0) await store(engine, accountId, added);
  return details;
}

/** Lists every day from the first to the last. */
export function daysOf(from: string, to: string): string[] {
  const [start, end] = [Date.parse(from), Date.parse(to)];
  return Array.from({ length: Math.max(0, Math.floor((end - start) / DAY_MS) + 1) }, (_, index) =>
    new Date(start + index * DAY_MS).toISOString().slice(0, 10),
  );
}

function isOver(day: string, now: Date): boolean {
  return now.getTime() > Date.parse(day) + DAY_MS + SETTLED_AFTER_MS;
}

async function computeDay(engine: Engine, accountId: string, day: string): Promise<Omit<UsageDetail, 'day'>[]> {
  const [start, end] = boundsOf(day);
  const within: SqlCondition = [
    'account_id = :accountId and finished_at >= :start and finished_at < :end',
    { accountId, start, end },
  ];
  const sums = new Map<string, Omit<UsageDetail, 'day'>>();
  for await (const { after, to } of rangesOf(engine, { table: 'holds', column: 'finished_at', within })) {
    const rows = await engine.all(
      `select key_id, kind, mode, outcome, count(*) as renders,
              sum(case state when 'settled' then credits else 0 end) as credits
       from holds where account_id = :accountId and finished_at >= :start and finished_at > :after and finished_at <= :to
       group by key_id, kind, mode, outcome`,
      { accountId, start, after, to },
    );
    for (const row of rows) addTo(sums, toDetail(row));
  }
  return inOrder(sums);
}

/** In the transaction in which a render ends. Does nothing unless the sums of the day are stored, which is rare. */
export async function addToStoredDetails(
  session: SqlSession,
  accountId: string,
  day: string,
  ended: SqlRow,
): Promise<void> {
  const place = { accountId, day };
  // Also keeps another server from adding to the same sums until this transaction ends.
  const lock =
    'update usage_details set details = details where account_id = :accountId and day = :day returning details';
  const row = await first(session, lock, place);
  if (row === undefined) return;
  const sums = new Map<string, Omit<UsageDetail, 'day'>>();
  for (const detail of [...toStored(row), toDetail(ended)]) addTo(sums, detail);
  await session.run('update usage_details set details = :details where account_id = :accountId and day = :day', {
    ...place,
    details: JSON.stringify(inOrder(sums)),
  });
}

/** Stores the sums of every account with renders on this day, so that they outlive the single renders. */
export async function storeDay(engine: Engine, day: string): Promise<void> {
  const [start, end] = boundsOf(day);
  const within: SqlCondition = ['finished_at >= :start and finished_at < :end', { start, end }];
  const accounts = new Set<string>();
  for await (const { after, to } of rangesOf(engine, { table: 'holds', column: 'finished_at', within })) {
    const sql = `select distinct account_id from holds where finished_at >= :start and finished_at > :after and finished_at <= :to`;
    for (const row of await engine.all(sql, { start, after, to })) accounts.add(text(row, 'account_id'));
  }
  for (const accountId of accounts) {
    const place = { accountId, day };
    const known = await engine.all('select day from usage_details where account_id = :accountId and day = :day', place);
    if (known.length > 0) continue;
    await store(engine, accountId, [[day, JSON.stringify(await computeDay(engine, accountId, day))]]);
    await yieldToEventLoop();
  }
}

/** The upper bound is the character after the T of a timestamp, which ends the day. */
function boundsOf(day: string): readonly [start: string, end: string] {
  return [`${day}T`, `${day}U`];
}

function inOrder(sums: ReadonlyMap<string, Omit<UsageDetail, 'day'>>): Omit<UsageDetail, 'day'>[] {
  return [...sums].toSorted(([one], [other]) => (one < other ? -1 : 1)).map(([, detail]) => detail);
}

function toDetail(row: SqlRow): Omit<UsageDetail, 'day'> {
  return {
    keyId: textOrNull(row, 'key_id'),
    kind: oneOf(row, 'kind', RENDER_KINDS),
    mode: oneOf(row, 'mode', KEY_MODES),
    outcome: text(row, 'outcome'),
    renders: integer(row, 'renders'),
    credits: integer(row, 'credits'),
  };
}

function addTo(sums: Map<string, Omit<UsageDetail, 'day'>>, detail: Omit<UsageDetail, 'day'>): void {
  const name = [detail.keyId, detail.kind, detail.mode, detail.outcome].join(' ');
  const sum = sums.get(name);
  sums.set(name, {
    ...detail,
    renders: detail.renders + (sum?.renders ?? 0),
    credits: detail.credits + (sum?.credits ?? 0),
  });
}

/** Another server may have stored the same sums at the same time. */
async function store(engine: Engine, accountId: string, days: readonly (readonly [string, string])[]): Promise<void> {
  await engine.transaction(async (session) => {
    for (const [day, details] of days) {
      await insertRow(
        session,
        'usage_details',
        { accountId, day, details },
        `on conflict (account_id, day) do nothing`,
      );
    }
  });
}
