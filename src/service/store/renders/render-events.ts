import { randomUUID } from 'node:crypto';
import type { Clock } from '../audit.ts';
import { type Engine, insertRow, type SqlSession } from '../engine.ts';
import { date, oneOf, type SqlRow, text } from '../rows.ts';
import { RENDER_EVENTS, type RenderEvent } from './render.ts';

/** The outbox: an event is written in the transaction that ends its render, and stays until it has been handled. */
export class RenderEvents {
  readonly #engine: Engine;
  readonly #clock: Clock;

  constructor(engine: Engine, clock: Clock) {
    this.#engine = engine;
    this.#clock = clock;
  }

  /** `row` is that of the render. */
  async add(session: SqlSession, row: SqlRow, type: RenderEvent['type']): Promise<void> {
    await insertRow(session, 'render_events', {
      id: randomUUID(),
      accountId: text(row, 'account_id'),
      renderId: text(row, 'id'),
      type,
      createdAt: this.#clock(),
    });
  }

  /** Oldest first. */
  async pending(count: number): Promise<RenderEvent[]> {
    const rows = await this.#engine.all(
      'select * from render_events where handled_at is null order by created_at, id limit :count',
      { count },
    );
    return rows.map((row) => ({
      id: text(row, 'id'),
      accountId: text(row, 'account_id'),
      renderId: text(row, 'render_id'),
      type: oneOf(row, 'type', RENDER_EVENTS),
      createdAt: date(row, 'created_at'),
    }));
  }

  async markHandled(eventId: string): Promise<void> {
    const update = 'update render_events set handled_at = :now where id = :eventId and handled_at is null';
    await this.#engine.run(update, { now: this.#clock().toISOString(), eventId });
  }
}
