import type { Rate } from '../account/gcra.ts';
import { AppError } from '../../shared/errors.ts';
import type { Limits } from '../store/limits.ts';

/** Takes one from the bucket of this name. Throws `rate_limited` with the detail when it is empty. */
export async function assertRate(
  limits: Pick<Limits, 'take'>,
  name: string,
  rate: Rate,
  detail: string | ((retryAfterMs: number) => string),
): Promise<void> {
  const { allowed, retryAfterMs } = await limits.take(name, rate);
  if (allowed) return;
  const text = typeof detail === 'string' ? detail : detail(retryAfterMs);
  throw new AppError('rate_limited', text, { retryAfterSeconds: toRetryAfter(retryAfterMs) });
}

/** At least a second, because 0 would make clients retry at once. */
export function toRetryAfter(milliseconds: number): number {
  return Math.max(1, Math.ceil(milliseconds / 1_000));
}
