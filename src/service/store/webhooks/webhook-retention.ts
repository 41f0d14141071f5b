import { setImmediate as yieldToEventLoop } from 'node:timers/promises';
import type { Engine } from '../engine.ts';
import { text } from '../rows.ts';

const BATCH = 100;

/** Deletes in small transactions, so that requests don't wait. A pending delivery keeps its message. */
export async function deleteMessagesBefore(engine: Engine, at: string): Promise<number> {
  let total = 0;
  for (let deleted = BATCH; deleted === BATCH; await yieldToEventLoop()) {
    deleted = await engine.transaction(async (session) => {
      const rows = await session.all(
        `select m.id from webhook_messages m where m.created_at < :at and not exists (
           select 1 from webhook_deliveries d where d.message_id = m.id and d.status = 'pending') limit :limit`,
        { at, limit: BATCH },
      );
      for (const row of rows) {
        const id = { id: text(row, 'id') };
        // Locks the deliveries, because a user may be sending one of them again at this moment.
        const lock = 'update webhook_deliveries set status = status where message_id = :id returning status';
        const deliveries = await session.all(lock, id);
        if (deliveries.some((delivery) => text(delivery, 'status') === 'pending')) continue;
        await session.run(
          'delete from webhook_attempts where delivery_id in (select id from webhook_deliveries where message_id = :id)',
          id,
        );
        await session.run('delete from webhook_deliveries where message_id = :id', id);
        await session.run('delete from webhook_messages where id = :id', id);
      }
      return rows.length;
    });
    total += deleted;
  }
  return total;
}
