// Bars that share rows are drawn into one band.

import type { Bar } from '../layout/layout.ts';

export interface BarGroup {
  top: number;
  bottom: number;
  readonly bars: Bar[];
}

/** Groups bars whose rows overlap, from top to bottom. */
export function groupOverlapping(bars: readonly Bar[]): BarGroup[] {
  const groups: BarGroup[] = [];
  for (const bar of bars.toSorted((a, b) => a.top - b.top)) {
    const last = groups.at(-1);
    if (last && bar.top < last.bottom) {
      last.bars.push(bar);
      last.bottom = Math.max(last.bottom, bar.top + bar.height);
    } else {
      groups.push({ top: bar.top, bottom: bar.top + bar.height, bars: [bar] });
    }
  }
  // Within a group, bars stay in the order of the request, because a later bar is drawn over an earlier one.
  return groups.map((group) => ({ ...group, bars: bars.filter((bar) => group.bars.includes(bar)) }));
}
