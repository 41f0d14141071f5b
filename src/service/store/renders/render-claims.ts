// Claims accepted renders: first the account, then its oldest render. Files to send are claimed by account and receiver. A claim
// looks at a bounded number of accounts and finds each fact with one index lookup, so a long queue or history doesn't slow it
// down.

import { MAX_PUT_DELAY_MS } from '../../account/put-schedule.ts';
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
const MAX_PUT_PAUSE_MS = MAX_PUT_DELAY_MS + MAX_PAUSE_MS;
/**
 * The limits of files that are being sent, on all servers. Servers that claim at the same moment can exceed them slightly. A
 * receiver that doesn't respond delays only its own account.
 */
const MAX_SENT_TO_RECEIVER = 4;
const MAX_SENT_OF_ACCOUNT = 16;

/** This must be exactly the condition of the index `renders_queue`. */
export const ACTIVE = "status in ('queued', 'rendering')";
/** The index begins with the lane, so a statement about an account needs a condition on it. */
export const IN_QUEUE = `lane in (${RENDER_LANES.map((lane) => `'${lane}'`).join(', ')}) and ${ACTIVE}`;

/** The status of a render that isn't being worked on. One whose file waits to be sent has been rendered. */
export const WAITING = "case when lane = 'put' then 'rendering' else 'queued' end";

/** An account with waiting or running renders in the lane, or one of its receivers in the lane of files to send. */
interface Candidate {
  readonly name: string;
  /** Undefined when none of its renders is due. */
  readonly renderId: string | undefined;
  /** True if the limits of the account and its receiver allow another one. */
  readonly hasRoom: boolean;
  /** The running renders of the account. */
  readonly running: number;
  /** Decides between accounts with equally many running renders: the last claim, then the age of the render. */
  readonly rank: string;
}

/**
 * The parameters are `:after`, the name to begin after, `:now` and `:tooLate`. Every fact is a subquery of its own,
 * because PostgreSQL may read the whole table for a join when its statistics are old.
 */
function candidatesOf(lane: RenderLane): string {
  const isPut = lane === 'put';
  const name = isPut ? 'receiver' : 'account_id';
  // The whole order of the index makes PostgreSQL use it, whatever its statistics say.
  const inOrder = `order by q.${name}, q.is_due, q.due_at, q.created_at, q.id limit 1`;
  const waiting = `from renders q where q.lane = '${lane}' and q.${ACTIVE}`;
  const next = `select q.${name} ${waiting} and q.${name} >`;
  const ofName = `select q.id ${waiting} and q.${name} = names.name`;
  // A file that is being sent takes no worker, so it neither waits for the account's renders nor delays them.
  const isAlike = isPut ? "r.lane = 'put'" : "r.lane <> 'put'";
  const running = `select count(*) from renders r
       where r.account_id = picked.account_id and r.owner is not null and r.due_at > :now and ${isAlike}`;
  return `
    with recursive names (name, n) as (
      select (${next} :after ${inOrder}), 1
      union all
      select (${next} names.name ${inOrder}), n + 1 from names where name is not null and n < ${ROUND}
    ), due as materialized (
      select name, n, coalesce(
        (${ofName} and q.is_due = 0 and q.due_at <= :now ${inOrder}),
        (${ofName} and q.is_due = 1 ${inOrder}),
        (${ofName} and q.is_due = 0 and q.due_at > :tooLate and q.owner is null ${inOrder})) as id
      from names where name is not null
    ), picked as materialized (
      select name, n, id, (select r.account_id from renders r where r.id = due.id) as account_id from due
    )
    select picked.name, picked.id,
      (select r.max_running from renders r where r.id = picked.id) as max_running,
      (select r.created_at from renders r where r.id = picked.id) as created_at,
      (${running}) as running,
      ${isPut ? `(${running} and r.receiver = picked.name)` : '0'} as to_receiver,
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
          const claimed = await this.#take(renderId, lane, now);
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
    const rows = await this.#engine.all(candidatesOf(lane), { after, now, tooLate: tooLate(lane, now) });
    return rows.map((row) => toCandidate(lane, row));
  }

  async #take(renderId: string, lane: RenderLane, now: Date): Promise<ClaimedRender | undefined> {
    const at = now.toISOString();
    const [row] = await this.#engine.all(
      `update renders set status = ${WAITING}, owner = :owner, is_due = 0, due_at = :dueAt, attempts = attempts + 1,
         claimed_at = :at
       where id = :renderId and lane = :lane and ${ACTIVE} and (is_due = 1 or due_at <= :at or (due_at > :tooLate and owner is null)) returning *`,
      { owner: this.#owner, dueAt: this.leaseEnd(now), at, renderId, lane, tooLate: tooLate(lane, now) },
    );
    return row && { attempt: { renderId, number: integer(row, 'attempts') }, render: toRender(row) };
  }
}

function tooLate(lane: RenderLane, now: Date): string {
  return new Date(now.getTime() + (lane === 'put' ? MAX_PUT_PAUSE_MS : MAX_PAUSE_MS)).toISOString();
}

function toCandidate(lane: RenderLane, row: SqlRow): Candidate {
  const running = integer(row, 'running');
  const maxRunning = integerOrNull(row, 'max_running') ?? 0;
  const isBelowPutLimits = running < MAX_SENT_OF_ACCOUNT && integer(row, 'to_receiver') < MAX_SENT_TO_RECEIVER;
  return {
    name: text(row, 'name'),
    renderId: textOrNull(row, 'id') ?? undefined,
    hasRoom: running < maxRunning && (lane !== 'put' || isBelowPutLimits),
    running,
    rank: `${textOrNull(row, 'last_claim') ?? ''} ${textOrNull(row, 'created_at') ?? ''} ${textOrNull(row, 'id') ?? ''}`,
  };
}

function nameOf({ name }: Candidate): string {
  return name;
}

function isReady(candidate: Candidate): candidate is Candidate & { readonly renderId: string } {
  return candidate.renderId !== undefined && candidate.hasRoom;
}

function byTurn(one: Candidate, other: Candidate): number {
  return one.running - other.running || (one.rank < other.rank ? -1 : 1);
}
