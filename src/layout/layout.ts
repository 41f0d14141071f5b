// Numbers only: captions and a canvas in, bars with placed lines out. Knows no font, no pixel and no file; text is measured
// by whatever is injected. Same input, same layout.

import type { Overlay } from '../caption/overlay.ts';
import { type CaptionBlock, layoutCaption } from './caption-block.ts';
import type { Size } from './geometry.ts';
import type { Measurer } from './measurer.ts';
import { placeBars } from './placement.ts';
import { scaleFor } from './style.ts';

export interface Bar extends CaptionBlock {
  readonly top: number;
  readonly text: string;
}

export interface Layout {
  readonly canvas: Size;
  /** In the order of the overlays: a later bar is drawn over an earlier one. */
  readonly bars: readonly Bar[];
}

/** One measurer per caption, because the fonts it uses depend on the whole caption. */
export type MeasurerFor = (caption: string) => Measurer;

export function layoutOverlays(overlays: readonly Overlay[], canvas: Size, measurerFor: MeasurerFor): Layout {
  const scale = scaleFor(canvas);
  const blocks = overlays.map(({ text }) => layoutCaption(text, canvas, scale, measurerFor(text)));
  const rows = placeBars(
    overlays,
    blocks.map((block) => block.height),
    canvas.height,
  );
  const bars = blocks.map((block, index) => ({
    ...block,
    top: rows[index]?.top ?? 0,
    text: overlays[index]?.text ?? '',
  }));
  return { canvas, bars };
}
