// Claims accepted renders: first the account, then its oldest render. A claim looks at a bounded number of accounts and
// finds each fact with one index lookup, so a long queue or history doesn't slow it down.

import type { Engine } from '../engine.ts';
import { ROUND, Rounds } from '../bounded/rounds.ts';
import { integer, integerOrNull, type SqlRow, text, textOrNull } from '../rows.ts';
import type { Clock } from '../audit.ts';
import { toRender } from './render-rows.ts';
import { type ClaimedRender, RENDER_LANES, type RenderLane } from './render.ts';

/** The lease is renewed far more often, so a few failed renewals do no harm. */
const LEASE_MS = 30_000;
/** No pause is this long, so a waiting render that is due later was written before the clock was set back. */
const MAX_PAUSE_MS = 60_000;

/** This must be exactly the condition of the index `renders_queue`. */
export const ACTIVE = "status in ('queued', 'rendering')";
/** The index begins with the lane, so a statement about an account needs a condition on it. */
export const IN_QUEUE = `lane in (${RENDER_LANES.map((lane) => `'${lane}'`).join(', ')}) and ${ACTIVE}`;

/** The status of a render that isn't being worked on. One whose file waits to be sent has been rendered. */
export const WAITING = "case when lane = 'put' then 'rendering' else 'queued' end";

/** The whole order of that index makes PostgreSQL use it, whatever its statistics say. */
const IN_ORDER = 'order by q.account_id, q.is_due, q.due_at, q.created_at, q.id limit 1';

/** An account with waiting or running renders in the lane. */
interface Candidate {
  readonly accountId: string;
  /** Undefined when none of its renders is due. */
  readonly renderId: string | undefined;
  readonly maxRunning: number;
  readonly running: number;
  /** Decides between accounts with equally many running renders: the last claim, then the age of the render. */
  readonly rank: string;
}

/**
 * The parameters are `:after`, the account to begin after, `:now` and `:tooLate`. Every fact is a subquery of its own,
 * because PostgreSQL may read the whole table for a join when its statistics are old.
 */
function candidatesOf(lane: RenderLane): string {
  const waiting = `from renders q where q.lane = '${lane}' and q.${ACTIVE}`;
  const next = `select q.account_id ${waiting} and q.account_id >`;
  // A file that is being sent takes no worker, so it neither waits for the account's renders nor delays them.
  const isAlike = lane === 'put' ? "r.lane = 'put'" : "r.lane <> 'put'";
  const ofAccount = `select q.id ${waiting} and q.account_id = accounts_waiting.account_id`;
  return `
    with recursive accounts_waiting (account_id, n) as (
      select (${next} :after ${IN_ORDER}), 1
      union all
      select (${next} accounts_waiting.account_id ${IN_ORDER}), n + 1
      from accounts_waiting where account_id is not null and n < ${ROUND}
    ), picked as materialized (
      select account_id, n, coalesce(
        (${ofAccount} and q.is_due = 0 and q.due_at <= :now ${IN_ORDER}),
        (${ofAccount} and q.is_due = 1 ${IN_ORDER}),
        (${ofAccount} and q.is_due = 0 and q.due_at > :tooLate and q.owner is null ${IN_ORDER})) as id
      from accounts_waiting where account_id is not null
    )
    select picked.account_id, picked.id,
      (select r.max_running from renders r where r.id = picked.id) as max_running,
      (select r.created_at from renders r where r.id = picked.id) as created_at,
      (select count(*) from renders r
       where r.account_id = picked.account_id and r.owner is not null and r.due_at > :now and ${isAlike}) as running,
      (select max(r.claimed_at) from renders r where r.account_id = picked.account_id) as last_claim
    from picked order by n`;
}

export class RenderClaims {
  readonly #engine: Engine;
  readonly #clock: Clock;
  readonly #owner: string;
  readonly #rounds: Record<RenderLane, Rounds<Candidate>> = {
    image: new Rounds(nameOf),
    video: new Rounds(nameOf),
    fetch: new Rounds(nameOf),
    put: new Rounds(nameOf),
  };

  constructor(engine: Engine, clock: Clock, owner: string) {
    this.#engine = engine;
    this.#clock = clock;
    this.#owner = owner;
  }

  /** See `Renders.claim`. */
  async claim(lane: RenderLane): Promise<ClaimedRender | undefined> {
    for (let isBeaten = true; isBeaten; ) {
      isBeaten = false;
      const now = this.#clock();
      for await (const accounts of this.#rounds[lane].next(async (after) => await this.#accounts(after, lane, now))) {
        for (const { renderId } of accounts.filter(isReady).toSorted(byTurn)) {
          const claimed = await this.#take(renderId, now);
          if (claimed !== undefined) return claimed;
          // Another server was faster. The account may have more renders.
          isBeaten = true;
        }
      }
    }
    return undefined;
  }

  leaseEnd(now: Date): string {
    return new Date(now.getTime() + LEASE_MS).toISOString();
  }

  async #accounts(after: string, lane: RenderLane, now: Date): Promise<Candidate[]> {
    const rows = await this.#engine.all(candidatesOf(lane), { after, now, tooLate: tooLate(now) });
    return rows.map(toCandidate);
  }

  async #take(renderId: string, now: Date): Promise<ClaimedRender | undefined> {
    const at = now.toISOString();
    const [row] = await this.#engine.all(
      `update renders set status = ${WAITING}, owner = :owner, is_due = 0, due_at = :dueAt, attempts = attempts + 1,
         claimed_at = :at
       where id = :renderId and ${ACTIVE} and (is_due = 1 or due_at <= :at or (due_at > :tooLate and owner is null)) returning *`,
      { owner: this.#owner, dueAt: this.leaseEnd(now), at, renderId, tooLate: tooLate(now) },
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
    rank: `${textOrNull(row, 'last_claim') ?? ''} ${textOrNull(row, 'created_at') ?? ''} ${textOrNull(row, 'id') ?? ''}`,
  };
}

function nameOf({ accountId }: Candidate): string {
  return accountId;
}

function isReady(candidate: Candidate): candidate is Candidate & { readonly renderId: string } {
  return candidate.renderId !== undefined && candidate.running < candidate.maxRunning;
}

function byTurn(one: Candidate, other: Candidate): number {
  return one.running - other.running || (one.rank < other.rank ? -1 : 1);
}
