// What everybody draws: one picture, three captions, and where our layout puts their bars, so that peers darken and letter
// the same rows as we do.

import { createRequire } from 'node:module';
import { type Bar, layoutOverlays } from '../../src/layout/layout.ts';
import { TextEngine } from '../../src/raster/text-engine.ts';
import type { Picture } from './pictures.ts';

// One line each, without emoji: what every peer can draw.
export const CAPTIONS = [
  { text: 'Golden hour, no filter needed', position: 20 },
  { text: 'Three hours of waiting for this', position: 50 },
  { text: 'Would you have stayed as well?', position: 80 },
] as const;

export interface Scene {
  readonly picture: Picture;
  readonly bars: readonly Bar[];
  /** A private directory with the picture and the peers' font, so that no path needs quoting in a program's arguments. */
  readonly directory: string;
}

/** Plain TrueType, which all peers read. */
export const PEER_FONT = createRequire(import.meta.url).resolve(
  '@expo-google-fonts/noto-sans/400Regular/NotoSans_400Regular.ttf',
);
export const PEER_FONT_NAME = 'face.ttf';

export function layOut({ width, height }: Picture): readonly Bar[] {
  const engine = new TextEngine();
  return layoutOverlays(CAPTIONS, { width, height }, (caption) => engine.measurerFor(caption)).bars;
}
