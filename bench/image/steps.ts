import { median } from './rounds.ts';
import { fixed } from './table.ts';

/** Formats the median of each step on one line, in the order of the steps. */
export function stepMedians(samples: readonly Readonly<Record<string, number>>[]): string {
  const names = Object.keys(samples[0] ?? {});
  return names.map((name) => `${name} ${fixed(median(samples.map((sample) => sample[name])), 1)}`).join(', ');
}
