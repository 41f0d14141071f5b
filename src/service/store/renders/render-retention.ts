// Finds and deletes what is no longer needed. Deleting an object and recording that in its row aren't one step, so both
// may be repeated, even by several servers at the same time.

import type { Engine } from '../engine.ts';
import { oneOf, text } from '../rows.ts';
import type { Clock } from '../audit.ts';
import { type SqlCondition, deleteInSteps } from '../bounded/steps.ts';
import type { ExpiredObject } from './render.ts';

const ENDED = "status in ('succeeded', 'failed', 'canceled')";

export class RenderRetention {
  readonly #engine: Engine;
  readonly #clock: Clock;

  constructor(engine: Engine, clock: Clock) {
    this.#engine = engine;
    this.#clock = clock;
  }

  async expiredObjects(count: number): Promise<ExpiredObject[]> {
    const rows = await this.#engine.all(
      `select id, 'asset' as kind, asset as name from renders where has_asset = 1 and ${ENDED}
       union all select id, 'target', target from renders where has_target = 1 and ${ENDED}
       union all select id, 'output', output from renders where has_output = 1 and expires_at <= :now and ${ENDED}
       limit :count`,
      { now: this.#clock(), count },
    );
    return rows.map((row) => ({
      renderId: text(row, 'id'),
      kind: oneOf(row, 'kind', ['asset', 'output', 'target']),
      name: text(row, 'name'),
    }));
  }

  async markDeleted({ renderId, kind }: ExpiredObject): Promise<void> {
    await this.#engine.run(`update renders set has_${kind} = 0 where id = :renderId`, { renderId });
  }

  /** An object belongs to the render whose id its name begins with. */
  async orphans(names: readonly string[]): Promise<string[]> {
    const orphans: string[] = [];
    for (const name of names) {
      const needed = await this.#engine.all(
        `select 1 as one from renders where id = :id
         and ((has_asset = 1 and asset = :name) or (has_output = 1 and output = :name) or not ${ENDED})`,
        { id: renderIdOf(name), name },
      );
      if (needed.length === 0) orphans.push(name);
    }
    return orphans;
  }

  async deleteBefore(at: Date): Promise<number> {
    const before = at.toISOString();
    const isOver: SqlCondition = ['finished_at < :before and has_asset = 0 and has_output = 0', { before }];
    const total = await deleteInSteps(this.#engine, 'renders', ['id'], isOver);
    await deleteInSteps(this.#engine, 'render_events', ['id'], ['created_at < :before', { before }]);
    const isEmpty = 'not exists (select 1 from renders j where j.batch_id = render_batches.id)';
    await deleteInSteps(this.#engine, 'render_batches', ['id'], [`created_at < :before and ${isEmpty}`, { before }]);
    return total;
  }
}

/** Names are `outputs/<render id>.<attempt>`, `assets/<render id>` or `targets/<render id>`. */
function renderIdOf(name: string): string {
  return name.replace(/^[a-z]+\//u, '').replace(/\..*$/u, '');
}
