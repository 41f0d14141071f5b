// The runs of bars as they are painted.

import type { Bar } from '../layout/layout.ts';
import type { PaintedRun } from './bar-pixels.ts';

/** Returns the runs of a line with their places on the canvas. */
export function paintedRuns({ runs, x: left, width, baseline }: Bar['lines'][number]): PaintedRun[] {
  return runs.map((run, index) => ({
    ...run,
    x: left + run.x,
    right: left + (runs[index + 1]?.x ?? width),
    baseline,
  }));
}

/** Returns the runs of a bar that are emoji. */
export function emojiRuns({ lines }: Bar): PaintedRun[] {
  return lines.flatMap(paintedRuns).filter(({ kind }) => kind === 'emoji');
}
