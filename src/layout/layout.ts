// Computes the layout: captions and a canvas in, bars with positioned lines out. It knows nothing about fonts, pixels
// or files, because an injected function measures the text. The same input always gives the same layout.

import type { Overlay } from '../caption/overlay.ts';
import { must } from '../primitives/must.ts';
import { type CaptionBlock, layoutCaption } from './caption-block.ts';
import type { Size } from './geometry.ts';
import type { Measurer } from './measurer.ts';
import { placeBars } from './placement.ts';
import { scaleFor } from './style.ts';

export interface Bar extends CaptionBlock {
  readonly top: number;
  readonly text: string;
  readonly lang: string | undefined;
}

export interface Layout {
  readonly canvas: Size;
  /** In the order of the overlays. A later bar is drawn over an earlier one. */
  readonly bars: readonly Bar[];
}

/** Each caption has its own measurer, because its fonts depend on the whole caption. */
export type MeasurerFor = (caption: string, lang: string | undefined) => Measurer;

export function layoutOverlays(overlays: readonly Overlay[], canvas: Size, measurerFor: MeasurerFor): Layout {
  const scale = scaleFor(canvas);
  const blocks = overlays.map(({ text, lang }) => ({
    ...layoutCaption(text, canvas, scale, measurerFor(text, lang)),
    text,
    lang,
  }));
  const rows = placeBars(
    overlays,
    blocks.map((block) => block.height),
    canvas.height,
  );
  return {
    canvas,
    bars: blocks.map((block, index) => ({ ...block, top: must(rows[index], 'the rows of the bar').top })),
  };
}
