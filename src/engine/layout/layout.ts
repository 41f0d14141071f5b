// Computes the layout of captions on a canvas: bars with positioned lines. It knows nothing about fonts, pixels or
// files, because an injected function measures the text. The same input always gives the same layout.

import type { Overlay } from '../caption/overlay.ts';
import { must } from '../../shared/must.ts';
import { type CaptionBlock, layoutCaption } from './caption-block.ts';
import type { Size } from './geometry.ts';
import { type Look, lookOf } from './look.ts';
import type { Measurer } from './measurer.ts';
import { type PageMeasurer, pagesOf } from './pages.ts';
import { advanceOf } from './paragraph.ts';
import { isMoved, placeBars } from './placement.ts';
import type { Margins } from '../caption/safe-area.ts';
import { marginsFor } from './safe-area.ts';
import { lineMargins, scaleFor } from './style.ts';
import { type WordBox, wordBoxes } from './word-boxes.ts';

interface BarLine {
  /** The left edge of the text on the canvas. */
  readonly x: number;
}

export interface Bar extends CaptionBlock {
  readonly top: number;
  /** The columns of the bar: all of them, or those of a label or of the text. */
  readonly left: number;
  readonly right: number;
  readonly lines: readonly (CaptionBlock['lines'][number] & BarLine)[];
  readonly text: string;
  readonly lang: string | undefined;
  readonly look: Look;
  /** What it shows: an overlay, or a page of one. */
  readonly page: Overlay;
  /** The overlay of the request that it belongs to, and the first of its words. */
  readonly source: { readonly overlay: number; readonly firstWord: number };
  /** Where the words of the page are; empty without timed words. */
  readonly words: readonly WordBox[];
  /** In a frame of a video: the word that stands out, or how many words have appeared. Undefined for the plain caption. */
  readonly lit?: number;
  /** True if the safe area keeps the bar from its explicit position. */
  readonly isMoved: boolean;
}

export interface Layout {
  readonly canvas: Size;
  /** Bars in the order of the overlays and their pages. A later bar is drawn over an earlier one. */
  readonly bars: readonly Bar[];
}

/** Each caption has its own measurer, because its fonts depend on the whole caption. */
export type MeasurerFor = (caption: string, lang: string | undefined, look: Look) => Measurer;

export function layoutOverlays(overlays: readonly Overlay[], canvas: Size, measurerFor: MeasurerFor): Layout {
  const margins = marginsFor(canvas, overlays[0]?.safeArea);
  const blocks = overlays.flatMap((overlay, index) => {
    const known = new Map<string, PageBlock>();
    const blockOf = (page: Overlay): PageBlock => {
      const block = known.get(page.text) ?? layoutPage(page, canvas, margins, measurerFor);
      known.set(page.text, block);
      return block;
    };
    const pages = pagesOf(overlay, () => pageMeasurer(overlay, canvas, margins, measurerFor, blockOf));
    return pages.map(({ overlay: page, firstWord }) => ({
      ...blockOf(page),
      page,
      source: { overlay: index, firstWord },
    }));
  });
  const pages = blocks.map(({ page }) => page);
  const rows = placeBars(
    pages,
    blocks.map((block) => block.height),
    canvas.height,
    margins,
  );
  return {
    canvas,
    bars: blocks.map(({ measurer, ...block }, index) => {
      const placed = must(rows[index], 'the rows of the bar');
      const { page } = block;
      const words = page.words ? wordBoxes(block, page.words, canvas.width, measurer) : [];
      return { ...block, words, top: placed.top, isMoved: isMoved(page, placed.height, canvas.height, margins) };
    }),
  };
}

type PageBlock = Omit<Bar, 'top' | 'isMoved' | 'page' | 'source' | 'words' | 'lit'> & { readonly measurer: Measurer };

function layoutPage(
  { text, lang, style }: Overlay,
  canvas: Size,
  margins: Margins,
  measurerFor: MeasurerFor,
): PageBlock {
  const room = { width: canvas.width, height: canvas.height - margins.top - margins.bottom };
  const look = lookOf(style);
  const scale = scaleFor(canvas, look, margins);
  const measurer = measurerFor(text, lang, look);
  const block = layoutCaption(text, room, scale, measurer, lang);
  return { ...block, ...align(block, look, canvas.width, margins, scale.spacing.aside), text, lang, look, measurer };
}

function pageMeasurer(
  { text, lang, style }: Overlay,
  canvas: Size,
  margins: Margins,
  measurerFor: MeasurerFor,
  blockOf: (page: Overlay) => PageBlock,
): PageMeasurer {
  const look = lookOf(style);
  const { fontSize, wrapWidth, spacing } = scaleFor(canvas, look, margins);
  const measurer = measurerFor(text, lang, look);
  return {
    wrapWidth: wrapWidth - 2 * spacing.aside * fontSize,
    widthOf: (word) => advanceOf(word, fontSize, measurer),
    fits: (page, maxLines) => {
      const { lines, fontSize: actual } = blockOf(page);
      return lines.length <= maxLines && actual === fontSize;
    },
  };
}

/** Lines start at the left or end at the right margin, or stay in the middle of the canvas. */
function align(
  { lines, fontSize }: CaptionBlock,
  { align: side, surround }: Look,
  width: number,
  margins: Margins,
  aside: number,
): Pick<Bar, 'lines' | 'left' | 'right'> {
  const ends = lineMargins(width, margins);
  const xOf = (lineWidth: number): number => {
    if (side === 'left') return ends.left + aside * fontSize;
    if (side === 'right') return width - ends.right - aside * fontSize - lineWidth;
    return (width - lineWidth) / 2;
  };
  const aligned = lines.map((line) => ({ ...line, x: xOf(line.width) }));
  if (surround === 'bar') return { lines: aligned, left: 0, right: width };
  const inked = aligned.filter(({ runs }) => runs.length > 0);
  const drawn = inked.length > 0 ? inked : aligned;
  const left = Math.min(...drawn.map(({ x }) => x)) - aside * fontSize;
  const right = Math.max(...drawn.map((line) => line.x + line.width)) + aside * fontSize;
  // A label has its edges on whole pixels, as `raster/label-path.ts` draws it.
  const [start, end] =
    surround === 'box' ? [Math.round(left), Math.round(right)] : [Math.floor(left), Math.ceil(right)];
  return { lines: aligned, left: Math.max(0, start), right: Math.min(width, end) };
}
