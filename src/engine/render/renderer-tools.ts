import { ZeroRuns } from '../raster/png/deflate.ts';
import { TextEngine } from '../raster/text-engine.ts';
import { OwnFonts } from './own-fonts.ts';

/**
 * Tools that all renders of a process share: fonts, a canvas, and a cache of compressed zeros. They are expensive to
 * create.
 */
export interface RenderTools {
  readonly text: TextEngine;
  readonly zeros: ZeroRuns;
  readonly fonts: OwnFonts;
}

export function createRenderTools(): RenderTools {
  const text = new TextEngine();
  return { text, zeros: new ZeroRuns(), fonts: new OwnFonts(text) };
}
