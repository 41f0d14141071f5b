// Paints a word larger than its line.

import type { SKRSContext2D } from '@napi-rs/canvas';
import type { EmojiRims } from './emoji-rim.ts';
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

/** The rims of the emoji of the word, as large as they are painted. */
export function zoomedRims(rims: EmojiRims | undefined, { scale, x, y, columns }: WordZoom): EmojiRims | undefined {
  if (rims === undefined) return undefined;
  const boxes = rims.boxes
    .filter(({ left, right }) => left < columns.right && right > columns.left)
    .map(({ left, right, top, bottom }) => ({
      left: Math.floor(x + (left - x) * scale),
      right: Math.ceil(x + (right - x) * scale),
      top: Math.floor(y + (top - y) * scale),
      bottom: Math.ceil(y + (bottom - y) * scale),
    }));
  return { ...rims, boxes, width: rims.width * scale };
}
