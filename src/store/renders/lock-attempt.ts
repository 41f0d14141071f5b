import type { SqlSession } from '../engine.ts';
import { type Attempt, AttemptLost } from './renders.ts';

/** Locks the row of a render until the transaction ends. Throws when the attempt isn't the one that has its lease. */
export async function lockAttempt(session: SqlSession, { renderId, number }: Attempt): Promise<void> {
  const update =
    "update renders set attempts = attempts where id = :renderId and attempts = :number and status = 'rendering'";
  if ((await session.run(update, { renderId, number })) !== 1) throw new AttemptLost(renderId);
}
