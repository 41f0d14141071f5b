// Paints the label of a box.

import type { SKRSContext2D } from '@napi-rs/canvas';
import { labelOutline, type LabelRow } from '../layout/label-shape.ts';
import type { Bar } from '../layout/layout.ts';
import { SPACINGS } from '../layout/look.ts';
import { must } from '../../shared/must.ts';

/** Fills one path per block of lines. Blank lines have no label. `top` is the row of the canvas where the bar starts. */
export function paintLabel(context: SKRSContext2D, { lines, fontSize }: Bar, top: number): void {
  const aside = SPACINGS.box.aside * fontSize;
  let rows: LabelRow[] = [];
  const flush = (): void => {
    if (rows.length > 0) fillOutline(context, rows, fontSize);
    rows = [];
  };
  for (const line of lines) {
    if (line.runs.length === 0) flush();
    // Edges on whole pixels are sharp.
    const [left, right] = [Math.round(line.x - aside), Math.round(line.x + line.width + aside)];
    if (line.runs.length > 0) rows.push({ left, right, top: top + line.top, bottom: top + line.bottom });
  }
  flush();
}

function fillOutline(context: SKRSContext2D, rows: readonly LabelRow[], em: number): void {
  const corners = labelOutline(rows, em);
  const last = must(corners.at(-1), 'the last corner');
  const first = must(corners[0], 'the first corner');
  const [xs, ys] = [corners.map(({ x }) => x), corners.map(({ y }) => y)];
  const [left, top] = [Math.min(...xs), Math.min(...ys)];
  context.save();
  // Skia draws the end of an arc up to a tenth of a pixel too far out, which would leave a faint pixel beside the label.
  context.beginPath();
  context.rect(left, top, Math.max(...xs) - left, Math.max(...ys) - top);
  context.clip();
  context.beginPath();
  context.moveTo((last.x + first.x) / 2, (last.y + first.y) / 2);
  corners.forEach(({ x, y, radius }, index) => {
    const next = must(corners[(index + 1) % corners.length], 'the next corner');
    context.arcTo(x, y, next.x, next.y, radius);
  });
  context.closePath();
  context.fill();
  context.restore();
}
