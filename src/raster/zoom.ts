// Paints a word larger than its line.

import type { SKRSContext2D } from '@napi-rs/canvas';
import type { WordZoom } from './page-drawing.ts';

/** More rows than any canvas has. */
const UNBOUNDED = 100_000;

/** Everything that is painted now is larger around a point, and only the word is visible. */
export function zoomTo(context: SKRSContext2D, { scale, x, y, columns }: WordZoom): void {
  context.translate(x, y);
  context.scale(scale, scale);
  context.translate(-x, -y);
  context.beginPath();
  context.rect(columns.left, -UNBOUNDED, columns.right - columns.left, 2 * UNBOUNDED);
  context.clip();
}
