// The vertical position of the text in a bar. Capitals are centered in their line. Scripts whose ink hangs lower than that of
// Latin are raised, by one distance for all lines and emoji of a bar, so that the ink is in the middle of the bar.

import { must } from '../../shared/must.ts';
import type { LetterInk } from './measurer.ts';
import { style } from './style.ts';

/** The ink bounds of Latin letters, in em. Ink within them isn't raised, so that captions share their baselines. */
const ORDINARY = {
  /** The deepest descender. */
  depth: 0.26,
  /** How far the center of gravity is below the middle of a line, at most and usually. */
  lowest: 0.15,
  usual: 0.07,
};
/** In em. */
const MAX_RAISE = 0.3;
/** The minimum distance between the ink of a raised line with its marks and the top of the bar, in em. */
const ROOM_ABOVE = 0.2;

interface InkedLine {
  /** In pixels below the top of the bar. */
  readonly baseline: number;
  readonly ink: LetterInk | undefined;
}

/** How much higher the lines are drawn, in pixels. */
export function raiseOf(lines: readonly InkedLine[], height: number, em: number): number {
  const first = must(lines[0], 'the first line');
  const room = first.baseline - ((first.ink?.markedTop ?? 0) + ROOM_ABOVE) * em;
  const wanted = Math.max(raiseByGravity(lines) * em, raiseByBounds(lines, height, em));
  return Math.max(0, Math.min(wanted, room, MAX_RAISE * em));
}

/** In em. Letters with most of their ink at the baseline get the center of gravity that is usual for Latin. */
function raiseByGravity(lines: readonly InkedLine[]): number {
  const inks = lines.flatMap(({ ink }) => ink ?? []);
  const area = inks.reduce((sum, ink) => sum + ink.area, 0);
  if (area === 0) return 0;
  const center = inks.reduce((sum, ink) => sum + ink.centerOfGravity * ink.area, 0) / area;
  const belowMiddle = style.baselineBelowMiddle - center;
  return belowMiddle > ORDINARY.lowest ? belowMiddle - ORDINARY.usual : 0;
}

/** In pixels. Letters that reach deeper than descenders get as much space below as above. */
function raiseByBounds(lines: readonly InkedLine[], height: number, em: number): number {
  const [first, last] = [must(lines[0], 'the first line'), must(lines.at(-1), 'the last line')];
  const bottom = last.ink?.bottom ?? 0;
  if (-bottom <= ORDINARY.depth) return 0;
  const top = Math.max(2 * style.baselineBelowMiddle, first.ink?.top ?? 0);
  const above = first.baseline - top * em;
  const below = height - last.baseline + bottom * em;
  return (above - below) / 2;
}
