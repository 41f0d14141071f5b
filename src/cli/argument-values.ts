import { UsageError } from './exit-codes.ts';

export function wholeNumber(option: string, text: string, least: number): number {
  const value = /^\d{1,9}$/u.test(text) ? Number(text) : Number.NaN;
  if (value >= least) return value;
  throw new UsageError(`${option} must be a whole number, at least ${least}, not "${text}"`);
}

/** A day as people and the store write it. */
export function day(option: string, text: string): string {
  const date = /^\d{4}-\d{2}-\d{2}$/u.test(text) ? new Date(`${text}T00:00:00Z`) : new Date(Number.NaN);
  if (!Number.isNaN(date.getTime()) && date.toISOString().startsWith(text)) return text;
  throw new UsageError(`${option} must be a day like 2026-01-31, not "${text}"`);
}
