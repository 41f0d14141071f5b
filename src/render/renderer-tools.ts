import { ZeroRuns } from '../raster/png/deflate.ts';
import { TextEngine } from '../raster/text-engine.ts';

/** What renders of one process share: fonts, a canvas, compressed emptiness. Costly to make, so made once and passed. */
export interface RenderTools {
  readonly text: TextEngine;
  readonly zeros: ZeroRuns;
}

export function createRenderTools(): RenderTools {
  return { text: new TextEngine(), zeros: new ZeroRuns() };
}
