import type { SqlSession } from '../engine.ts';

/** One attempt of one server. Only the latest attempt can change the render. */
export interface Attempt {
  readonly renderId: string;
  readonly number: number;
}

/** The render was canceled or claimed by another server, so this attempt must not reserve credits for it. */
export class AttemptLost extends Error {
  constructor(renderId: string) {
    super(`render ${renderId} no longer belongs to this attempt`);
    this.name = 'AttemptLost';
  }
}

/**
 * True for the attempt that has the lease, with the parameters of an `Attempt`. A render that has ended has no owner.
 */
export const IS_LATEST = 'id = :renderId and attempts = :number and owner is not null';

/** Locks the row of a render until the transaction ends. Throws when the attempt isn't the one that has its lease. */
export async function lockAttempt(session: SqlSession, { renderId, number }: Attempt): Promise<void> {
  const update = `update renders set attempts = attempts where ${IS_LATEST}`;
  if ((await session.run(update, { renderId, number })) !== 1) throw new AttemptLost(renderId);
}
