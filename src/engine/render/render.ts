// Renders images and transparent overlays: turns a recipe and an asset into the bytes of the output and facts about it.
// Knows nothing about HTTP, the store or settings.

import { setImmediate } from 'node:timers/promises';
import type { Size } from '../layout/geometry.ts';
import type { Bar } from '../layout/layout.ts';
import { lookOf } from '../layout/look.ts';
import type { Rows } from '../layout/placement.ts';
import { colorProfileOf } from '../media/color/gray-profile.ts';
import { type ConvertWords, conversionToProfile } from '../media/color/profile-colors.ts';
import type { FontDescription } from '../media/font/font-description.ts';
import { type DecodedImage, decodeImage } from '../media/image.ts';
import { surroundImage } from '../media/surround-image.ts';
import { type Band, isGrayBand } from '../raster/band.ts';
import { bakeBands } from '../raster/blend.ts';
import { strokeImage } from '../raster/strokes.ts';
import { isTooCoarse } from '../raster/jpeg/coarseness.ts';
import type { JpegHeaders } from '../raster/jpeg/headers.ts';
import { spliceBands } from '../raster/jpeg/splice.ts';
import { readUprightHeaders } from '../raster/jpeg/turn.ts';
import { drawBands, type DrawnBands } from './bands.ts';
import { encodeImage, encodeOverlay } from './encode.ts';
import type { BarReport, LogoBox } from './bar-report.ts';
import type { ImageRecipe, TransparentRecipe } from './recipe.ts';
import { isFaintOn, needsPhoto } from './photo-contrast.ts';
import type { RenderTools } from './renderer-tools.ts';
import type { SourcePixels } from './source-pixels.ts';
import { Stopwatch, type Timings } from './timing.ts';
import { type RenderWarning, uniqueWarnings } from './warnings.ts';

export interface RenderFacts {
  readonly width: number;
  readonly height: number;
  /** The rows of each bar, in the order of the overlays. */
  readonly bars: readonly Rows[];
  readonly missingGlyphs: number;
  readonly warnings: readonly RenderWarning[];
  /** The details of each bar, for a recipe that requests only those. */
  readonly layout?: readonly BarReport[];
  /** Where the logo is, for a recipe that requests only the layout. */
  readonly logo?: LogoBox;
  /** For JPEGs: tells whether the image outside the bars is the compressed data of the asset. */
  readonly sourcePixels?: SourcePixels;
  /** The quality that a limit of the size led to: 1 to 100, or the constant rate factor of a video. */
  readonly quality?: number;
  /** For a recipe that writes a font. */
  readonly font?: FontDescription;
  /** For a recipe that extracts the sound; see `extractSpeech`. */
  readonly audible?: string;
  readonly timings: Timings;
}

export interface Rendered extends RenderFacts {
  readonly bytes: Buffer;
}

export async function renderTransparent(recipe: TransparentRecipe, tools: RenderTools): Promise<Rendered> {
  const stopwatch = new Stopwatch();
  const { bands, strokes, drawnBars: _, ...facts } = await drawBands(recipe, tools, stopwatch);
  // Skia frees its memory in finalizers, which need a turn of the event loop. Without one, consecutive overlay renders
  // would each allocate new memory.
  await setImmediate();
  const bytes = await stopwatch.step('encode', () => encodeOverlay(recipe, { bands, strokes }, tools));
  return { bytes, ...recipe.canvas, ...facts, timings: stopwatch.timings };
}

export async function renderOnImage(
  recipe: ImageRecipe,
  asset: Uint8Array,
  tools: RenderTools,
  signal?: AbortSignal,
): Promise<Rendered> {
  const kept = await renderKeepingSource(recipe, asset, tools);
  const { output } = recipe;
  const maxBytes = (output.format === 'jpeg' ? output.maxBytes : undefined) ?? Number.POSITIVE_INFINITY;
  return kept && kept.bytes.length <= maxBytes ? kept : await renderPixels(recipe, asset, tools, signal);
}

/** Draws on the compressed data of a JPEG. Returns `undefined` where that isn't possible. */
async function renderKeepingSource(
  recipe: ImageRecipe,
  asset: Uint8Array,
  tools: RenderTools,
): Promise<Rendered | undefined> {
  const orientation = recipe.output.format === 'jpeg' ? recipe.output.keptOrientation : undefined;
  const colors = orientation === undefined ? undefined : keptColors(recipe, readUprightHeaders(asset, orientation));
  if (orientation === undefined || colors === undefined) return undefined;
  const stopwatch = new Stopwatch();
  const splice = async (): Promise<DrawnBands & { readonly bytes: Buffer | undefined }> => {
    const drawn = await drawBands(recipe, tools, stopwatch);
    const { bands, strokes } = drawn;
    const isColored = colors.isGray && !bands.every(isGrayBand);
    const { convert, profile } = isColored ? withColor(colors) : colors;
    const bytes = await stopwatch.step('splice', () =>
      spliceBands(asset, { bands, strokes, convert }, { orientation, profile }),
    );
    return { ...drawn, bytes };
  };
  // The decoder runs on its own thread. Meanwhile, this thread draws and splices.
  const isOnPhoto = recipe.overlays.some(({ style }) => needsPhoto(lookOf(style)));
  const [photo, spliced] = await Promise.all([isOnPhoto ? smallCopy(recipe, asset) : undefined, splice()]);
  const { bytes, bands, strokes: _strokes, drawnBars, ...facts } = spliced;
  const isFaint = photo !== undefined && areFaint(photo, recipe.canvas, drawnBars, bands);
  const warnings = isFaint ? uniqueWarnings([...facts.warnings, 'low_contrast']) : facts.warnings;
  return bytes && { bytes, ...recipe.canvas, ...facts, warnings, sourcePixels: 'kept', timings: stopwatch.timings };
}

interface KeptColors {
  /** The profile of the output. */
  readonly profile?: Uint8Array;
  /** Converts the colors of the overlay to those of the image. */
  readonly convert?: ConvertWords;
  readonly isGray: boolean;
}

/**
 * Checked before anything is drawn, because it would have to be drawn again for the decoded pixels. Returns `undefined` if the
 * compressed data can't be kept.
 */
function keptColors({ canvas, decode, output }: ImageRecipe, headers: JpegHeaders | undefined): KeptColors | undefined {
  if (headers === undefined || isTooCoarse(headers)) return undefined;
  if (headers.width !== canvas.width || headers.height !== canvas.height) return undefined;
  const { profile, components } = headers;
  const isGray = components.length === 1;
  if (profile === undefined) return { isGray };
  const mayKeep = output.format === 'jpeg' && output.keepsProfile === true;
  const convert = mayKeep ? conversionToProfile(profile, components.length) : undefined;
  // Without its profile, an image is taken for sRGB anyway.
  if (decode.ignoreProfile) return convert === undefined ? { isGray } : { isGray, profile };
  return convert && { isGray, profile, convert };
}

/** The colors of a gray image on which something colored is drawn. */
function withColor(colors: KeptColors): KeptColors {
  const profile = colors.profile && colorProfileOf(colors.profile);
  const convert = profile && conversionToProfile(profile, 3);
  return profile && convert ? { isGray: false, profile, convert } : colors;
}

async function renderPixels(
  recipe: ImageRecipe,
  asset: Uint8Array,
  tools: RenderTools,
  signal: AbortSignal | undefined,
): Promise<Rendered> {
  const stopwatch = new Stopwatch();
  // The decoder runs on its own thread. Meanwhile, this thread draws the bars for the size in the header.
  const [image, expected] = await Promise.all([
    stopwatch.step('decode', () => decodeAsset(asset, recipe, signal)),
    drawBands(recipe, tools, stopwatch),
  ]);
  // If the header was wrong, draw again for the decoded size.
  const canvas = { width: image.width, height: image.height };
  const isExpectedSize = canvas.width === recipe.canvas.width && canvas.height === recipe.canvas.height;
  const drawn = isExpectedSize ? expected : await drawBands({ ...recipe, canvas }, tools, stopwatch);
  const { bands, strokes, drawnBars, ...facts } = drawn;
  signal?.throwIfAborted();
  const isFaint = areFaint(image, canvas, drawnBars, bands);
  const warnings = isFaint ? uniqueWarnings([...facts.warnings, 'low_contrast']) : facts.warnings;
  await stopwatch.step('blend', () => {
    bakeBands(image, bands);
    if (strokes) strokeImage(strokes, image);
  });
  const encoded = await stopwatch.step('encode', () => encodeImage(image, recipe.output, { asset, signal }));
  const source = recipe.output.format === 'jpeg' ? ({ sourcePixels: 'reencoded' } as const) : {};
  return { ...encoded, ...canvas, ...facts, warnings, ...source, timings: stopwatch.timings };
}

/** How much smaller a copy is that only shows how bright the photo is. JPEG decoders make it without reading all details. */
const COPY_FACTOR = 8;

async function smallCopy({ canvas, decode }: ImageRecipe, asset: Uint8Array): Promise<DecodedImage> {
  const smaller = (side: number): number => Math.max(1, Math.round(side / COPY_FACTOR));
  return await decodeImage(asset, {
    ...decode,
    scaleTo: { width: smaller(canvas.width), height: smaller(canvas.height) },
  });
}

/** Returns whether some text without a bar hardly stands out from the photo. */
function areFaint(photo: DecodedImage, { width }: Size, bars: readonly Bar[], bands: readonly Band[]): boolean {
  return bars.some((bar) => needsPhoto(bar.look) && isFaintOn(photo, width, bar, bands));
}

async function decodeAsset(asset: Uint8Array, recipe: ImageRecipe, signal?: AbortSignal): Promise<DecodedImage> {
  const { canvas, surround } = recipe;
  const image = await decodeSized(asset, recipe, signal);
  return surround ? await surroundImage(image, canvas, surround) : image;
}

async function decodeSized(asset: Uint8Array, { decode }: ImageRecipe, signal?: AbortSignal): Promise<DecodedImage> {
  if (decode.decoder === undefined) return await decodeImage(asset, decode);
  // Loaded on demand, so a worker for images never loads the video libraries.
  const { decodeHeif } = await import('../media/heif/decode.ts');
  return await decodeHeif(asset, decode, signal);
}
