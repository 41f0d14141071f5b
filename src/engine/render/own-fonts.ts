// Fonts that accounts uploaded, in the process that draws with them. A font is loaded when a render first needs it. Skia leaks what
// it unloads, so a worker with many fonts is replaced instead; see `Worker.loadedBytes`.

import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { isOwnFont } from '../caption/fonts.ts';
import type { Overlay } from '../caption/overlay.ts';
import { readWrittenFont } from '../media/font/coverage.ts';
import type { RenderFile } from '../media/render-file.ts';
import { rethrowAsStorageError } from '../media/work-area.ts';
import { toRanges } from '../raster/code-points.ts';
import type { OwnFont } from '../raster/font-index.ts';
import type { TextEngine } from '../raster/text-engine.ts';

/** The ids of the fonts that overlays name. */
export function ownFontsOf(overlays: readonly Pick<Overlay, 'style'>[]): string[] {
  const names = overlays.flatMap(({ style }) => style?.font ?? []);
  return [...new Set(names)].filter(isOwnFont);
}

/** Characters by which the size of an unusual font is judged. */
const SAMPLE_SIZE = 31;

type LoadedFont = Omit<OwnFont, 'id'>;
type FontEngine = Pick<TextEngine, 'addOwnFont' | 'useOwnFonts'>;

export class OwnFonts {
  readonly #text: FontEngine;
  /** By hash. */
  readonly #loaded = new Map<string, LoadedFont>();

  constructor(text: FontEngine) {
    this.#text = text;
  }

  /** Makes exactly the fonts of a render available. */
  use(fonts: readonly RenderFile[]): void {
    this.#text.useOwnFonts(
      fonts.map((font) => ({ ...(this.#loaded.get(font.sha256) ?? this.#load(font)), id: font.id })),
    );
  }

  #load({ id, sha256, path }: RenderFile): LoadedFont {
    const file = read(path);
    if (createHash('sha256').update(file).digest('hex') !== sha256)
      throw new Error(`font ${id} doesn't match its hash`);
    const { characters, hasBold } = readWrittenFont(file);
    const alias = `own-${sha256}`;
    this.#text.addOwnFont(alias, file);
    const loaded = { alias, coverage: toRanges(characters), sample: sampleOf(characters), hasBold };
    this.#loaded.set(sha256, loaded);
    return loaded;
  }
}

function read(path: string): Buffer {
  try {
    return readFileSync(path);
  } catch (error) {
    return rethrowAsStorageError(error);
  }
}

/** Characters from the whole range of a font. */
function sampleOf(characters: readonly number[]): string[] {
  const step = Math.max(1, characters.length / SAMPLE_SIZE);
  const count = Math.min(SAMPLE_SIZE, characters.length);
  return Array.from({ length: count }, (_, index) => characters[Math.floor(index * step)] ?? 0)
    .map((point) => String.fromCodePoint(point))
    .filter((char) => !/^\s$/u.test(char));
}
