import { ZeroRuns } from '../raster/png/deflate.ts';
import { TextEngine } from '../raster/text-engine.ts';

/**
 * Tools that all renders of a process share: fonts, a canvas, and a cache of compressed zeros. They are expensive to
 * create.
 */
export interface RenderTools {
  readonly text: TextEngine;
  readonly zeros: ZeroRuns;
}

export function createRenderTools(): RenderTools {
  return { text: new TextEngine(), zeros: new ZeroRuns() };
}
