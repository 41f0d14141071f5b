import { AppError } from '../../shared/errors.ts';

export const DEFAULT_OVERLAP_SECONDS = 86_400;
export const MAX_OVERLAP_SECONDS = 7 * 86_400;

/** Returns how long webhooks are also signed with the old secret, in milliseconds. */
export function rotationOf(value: unknown): number {
  const seconds = value ?? DEFAULT_OVERLAP_SECONDS;
  if (typeof seconds === 'number' && Number.isInteger(seconds) && seconds >= 0 && seconds <= MAX_OVERLAP_SECONDS) {
    return seconds * 1_000;
  }
  const detail = `overlap_seconds must be a whole number from 0 to ${MAX_OVERLAP_SECONDS}.`;
  throw new AppError('invalid_fields', detail, {
    faults: [{ pointer: '#/overlap_seconds', code: 'out_of_range', detail }],
  });
}
