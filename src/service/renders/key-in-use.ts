// Idempotency keys that another request has.

import { setTimeout as wait } from 'node:timers/promises';
import { AppError } from '../../shared/errors.ts';

const RETRY_AFTER_SECONDS = 2;
/** How often, and for how long, to check whether the other request has ended. */
const WAIT_MS = 250;
const MAX_WAIT_MS = 300_000;

export function keyInFlight(): AppError {
  return new AppError('idempotency_in_flight', 'A request with this idempotency key is still in progress.', {
    retryAfterSeconds: RETRY_AFTER_SECONDS,
  });
}

export function keyMismatch(): AppError {
  return new AppError('idempotency_mismatch', 'This idempotency key was used for a different request.');
}

/** Tries until the other request has ended. `attempt` returns undefined while it runs. */
export async function afterOther<Result extends object>(
  attempt: () => Promise<Result | undefined>,
  signal: AbortSignal,
): Promise<Result> {
  const until = performance.now() + MAX_WAIT_MS;
  for (;;) {
    const result = await attempt();
    if (result !== undefined) return result;
    if (performance.now() > until) throw keyInFlight();
    await wait(WAIT_MS, undefined, { signal }).catch(() => signal.throwIfAborted());
  }
}
