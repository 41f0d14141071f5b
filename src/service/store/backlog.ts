// How much asynchronous work waits, for metrics. Each figure is one lookup or a bounded count in an index, so that it costs the
// same with any queue and history.

import type { Clock } from './audit.ts';
import { type Engine, first } from './engine.ts';
import type { RenderLane } from './renders/render.ts';
import { ACTIVE } from './renders/render-claims.ts';
import { integer, textOrNull } from './rows.ts';

/** Longer queues count as this long. An operator has to act far earlier. */
const MAX_COUNT = 20_000;

export interface LaneBacklog {
  /** Renders that no server has claimed. */
  readonly waiting: number;
  readonly claimed: number;
  /** The age of the oldest render that hasn't ended; 0 if there is none. */
  readonly oldestSeconds: number;
}

export interface BacklogReading {
  readonly renders: Readonly<Record<RenderLane, LaneBacklog>>;
  /** Webhooks that should have been sent by now. */
  readonly webhooks: { readonly waiting: number; readonly oldestSeconds: number };
}

export class Backlog {
  readonly #engine: Engine;
  readonly #clock: Clock;

  constructor(engine: Engine, clock: Clock) {
    this.#engine = engine;
    this.#clock = clock;
  }

  async read(): Promise<BacklogReading> {
    const [image, video, fetch, put] = await Promise.all([
      this.#lane('image'),
      this.#lane('video'),
      this.#lane('fetch'),
      this.#lane('put'),
    ]);
    return { renders: { image, video, fetch, put }, webhooks: await this.#webhooks() };
  }

  async #lane(lane: RenderLane): Promise<LaneBacklog> {
    const active = `from renders where lane = :lane and ${ACTIVE}`;
    const counted = await first(
      this.#engine,
      `select (select count(*) from (select 1 as one ${active} limit :limit) as counted) as active,
              (select count(*) from renders where owner is not null and lane = :lane) as claimed,
              (select created_at ${active} order by created_at limit 1) as oldest`,
      { lane, limit: MAX_COUNT },
    );
    if (counted === undefined) throw new Error('the backlog of renders has no row');
    const claimed = integer(counted, 'claimed');
    return {
      waiting: Math.max(0, integer(counted, 'active') - claimed),
      claimed,
      oldestSeconds: this.#ageOf(textOrNull(counted, 'oldest')),
    };
  }

  /** A webhook that waits for its next attempt isn't late, and one that is being sent is due at the end of its lease. */
  async #webhooks(): Promise<BacklogReading['webhooks']> {
    const late = "from webhook_deliveries where status = 'pending' and due_at <= :now";
    const counted = await first(
      this.#engine,
      `select (select count(*) from (select 1 as one ${late} limit :limit) as counted) as waiting,
              (select due_at ${late} order by due_at limit 1) as oldest,
              (select created_at from render_events where handled_at is null order by created_at, id limit 1) as event`,
      { now: this.#clock(), limit: MAX_COUNT },
    );
    if (counted === undefined) throw new Error('the backlog of webhooks has no row');
    const ages = [this.#ageOf(textOrNull(counted, 'oldest')), this.#ageOf(textOrNull(counted, 'event'))];
    return { waiting: integer(counted, 'waiting'), oldestSeconds: Math.max(...ages) };
  }

  #ageOf(at: string | null): number {
    return at === null ? 0 : Math.max(0, (this.#clock().getTime() - Date.parse(at)) / 1_000);
  }
}
