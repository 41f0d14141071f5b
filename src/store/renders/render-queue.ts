// Claims accepted renders: first the account, then its oldest render. A claim looks at a bounded number of accounts and finds each
// of its facts with one step in an index, so it takes as long with a long queue or history as with a short one.

import { setImmediate as yieldToEventLoop } from 'node:timers/promises';
import type { Engine } from '../engine.ts';
import { integer, integerOrNull, type SqlRow, text, textOrNull } from '../rows.ts';
import type { Clock } from '../sql-audit.ts';
import { toRender } from './render-rows.ts';
import type { ClaimedRender, RenderLane } from './renders.ts';

/** Renewed far more often, so that some failed renewals do no harm. */
const LEASE_MS = 30_000;
/** No pause is that long, so a waiting render that is due later was written before the clock was set back. */
const MAX_PAUSE_MS = 60_000;
/** How many accounts a claim compares. With more, the next claim continues with the following ones, in a circle. */
const ACCOUNTS = 100;

/** Exactly the condition of the index `render_jobs_queue`. */
export const ACTIVE = "status in ('queued', 'rendering')";

/** An account with waiting or running renders in the lane. */
interface Candidate {
  readonly accountId: string;
  /** Undefined when none of its renders is due. */
  readonly renderId: string | undefined;
  readonly maxRunning: number;
  readonly running: number;
  /** Decides between accounts with as many running renders: the last start, then the age of the render. */
  readonly rank: string;
}

/** With the parameters: after this account, now, now, `MAX_PAUSE_MS` from now. */
function candidatesOf(lane: RenderLane): string {
  const waiting = `from render_jobs q where q.lane = '${lane}' and q.${ACTIVE}`;
  const ofAccount = `select q.id ${waiting} and q.account_id = accounts_waiting.account_id`;
  return `
    with recursive accounts_waiting (account_id, n) as (
      select (select min(q.account_id) ${waiting} and q.account_id > ?), 1
      union all
      select (select min(q.account_id) ${waiting} and q.account_id > accounts_waiting.account_id), n + 1
      from accounts_waiting where account_id is not null and n < ${ACCOUNTS}
    )
    select accounts_waiting.account_id, c.id, c.max_running, c.created_at,
      (select count(*) from render_jobs r
       where r.account_id = accounts_waiting.account_id and r.status = 'rendering' and r.due_at > ?) as running,
      (select max(r.started_at) from render_jobs r where r.account_id = accounts_waiting.account_id) as last_start
    from accounts_waiting left join render_jobs c on c.id = coalesce(
      (${ofAccount} and q.due_at > '' and q.due_at <= ? order by q.due_at, q.created_at, q.id limit 1),
      (${ofAccount} and q.due_at = '' order by q.created_at, q.id limit 1),
      (${ofAccount} and q.due_at > ? and q.status = 'queued' order by q.due_at limit 1))
    where accounts_waiting.account_id is not null order by n`;
}

export class RenderQueue {
  readonly #engine: Engine;
  readonly #clock: Clock;
  readonly #owner: string;
  /** The last account that was looked at. */
  readonly #after: Record<RenderLane, string> = { image: '', video: '', fetch: '' };

  constructor(engine: Engine, clock: Clock, owner: string) {
    this.#engine = engine;
    this.#clock = clock;
    this.#owner = owner;
  }

  /** See `Renders.claim`. */
  async claim(lane: RenderLane): Promise<ClaimedRender | undefined> {
    const seen = new Set<string>();
    for (; ; await yieldToEventLoop()) {
      const now = this.#clock();
      const accounts = await this.#nextAccounts(lane, now);
      const ready = accounts.filter(
        ({ renderId, running, maxRunning }) => renderId !== undefined && running < maxRunning,
      );
      for (const { renderId = '' } of ready.toSorted(byTurn)) {
        // Another server may have claimed it a moment ago.
        const claimed = await this.#take(renderId, now);
        if (claimed !== undefined) return claimed;
      }
      // If other servers were faster each time, these accounts may have more renders.
      if (ready.length > 0) continue;
      if (accounts.every(({ accountId }) => seen.has(accountId))) return undefined;
      for (const { accountId } of accounts) seen.add(accountId);
      if (accounts.length < ACCOUNTS) return undefined;
    }
  }

  leaseEnd(now: Date): string {
    return new Date(now.getTime() + LEASE_MS).toISOString();
  }

  /** All accounts of the lane if there are at most `ACCOUNTS`. */
  async #nextAccounts(lane: RenderLane, now: Date): Promise<Candidate[]> {
    const after = this.#after[lane];
    const accounts = await this.#accountsAfter(after, lane, now);
    if (after !== '' && accounts.length < ACCOUNTS) {
      const known = new Set(accounts.map(({ accountId }) => accountId));
      const fromStart = (await this.#accountsAfter('', lane, now)).filter(({ accountId }) => !known.has(accountId));
      accounts.push(...fromStart.slice(0, ACCOUNTS - accounts.length));
    }
    this.#after[lane] = (accounts.length === ACCOUNTS && accounts.at(-1)?.accountId) || '';
    return accounts;
  }

  async #accountsAfter(accountId: string, lane: RenderLane, now: Date): Promise<Candidate[]> {
    const at = now.toISOString();
    const rows = await this.#engine.all(candidatesOf(lane), [accountId, at, at, tooLate(now)]);
    return rows.map(toCandidate);
  }

  async #take(renderId: string, now: Date): Promise<ClaimedRender | undefined> {
    const at = now.toISOString();
    const [row] = await this.#engine.all(
      `update render_jobs set status = 'rendering', owner = ?, due_at = ?, attempts = attempts + 1,
         started_at = coalesce(started_at, ?)
       where id = ? and ${ACTIVE} and (due_at <= ? or (due_at > ? and status = 'queued')) returning *`,
      [this.#owner, this.leaseEnd(now), at, renderId, at, tooLate(now)],
    );
    return row && { attempt: { renderId, number: integer(row, 'attempts') }, render: toRender(row) };
  }
}

function tooLate(now: Date): string {
  return new Date(now.getTime() + MAX_PAUSE_MS).toISOString();
}

function toCandidate(row: SqlRow): Candidate {
  return {
    accountId: text(row, 'account_id'),
    renderId: textOrNull(row, 'id') ?? undefined,
    maxRunning: integerOrNull(row, 'max_running') ?? 0,
    running: integer(row, 'running'),
    rank: `${textOrNull(row, 'last_start') ?? ''} ${textOrNull(row, 'created_at') ?? ''} ${textOrNull(row, 'id') ?? ''}`,
  };
}

function byTurn(one: Candidate, other: Candidate): number {
  return one.running - other.running || (one.rank < other.rank ? -1 : 1);
}
