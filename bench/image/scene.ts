// The scene that all contenders draw: one photo with three captions. Our layout places the bars, so all draw on the
// same rows.

import { createRequire } from 'node:module';
import { type Bar, layoutOverlays } from '../../src/engine/layout/layout.ts';
import { TextEngine } from '../../src/engine/raster/text-engine.ts';
import type { Photo } from './pictures.ts';

// Each caption has one line and no emoji, because not every peer can draw more.
export const CAPTIONS = [
  { text: 'Golden hour, no filter needed', position: 20 },
  { text: 'Three hours of waiting for this', position: 50 },
  { text: 'Would you have stayed as well?', position: 80 },
] as const;

export interface Scene {
  readonly photo: Photo;
  readonly bars: readonly Bar[];
  /** A temporary directory with the photo and the font, so that file names in program arguments need no quoting. */
  readonly directory: string;
}

/** A TrueType font, which all peers support. */
export const PEER_FONT = createRequire(import.meta.url).resolve(
  '@expo-google-fonts/noto-sans/400Regular/NotoSans_400Regular.ttf',
);
export const PEER_FONT_NAME = 'face.ttf';

export function layOut({ width, height }: Photo): readonly Bar[] {
  const engine = new TextEngine();
  return layoutOverlays(CAPTIONS, { width, height }, (caption) => engine.measurerFor(caption)).bars;
}
