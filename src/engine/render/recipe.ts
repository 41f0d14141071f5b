// Composes the recipes of images, transparent overlays, layouts and fonts.

import type { RequestedOutput } from '../caption/format-field.ts';
import { assertNoCues } from '../caption/captions-field.ts';
import type { Overlay } from '../caption/overlay.ts';
import { AppError } from '../../shared/errors.ts';
import type { Size } from '../layout/geometry.ts';
import { assertEnlargement, placeInto } from '../layout/fit.ts';
import type { DecodePlan } from '../media/image.ts';
import type { ImageProbe } from '../media/probe-schema.ts';
import type { RecipeLogo } from './logo.ts';
import { assertEncodable, imageOutput, transparentOutput } from './image-output.ts';
import type { RecipeOf } from './recipe-schema.ts';

export type TransparentRecipe = RecipeOf<'transparent'>;
export type LayoutRecipe = RecipeOf<'layout'>;
export type ImageRecipe = RecipeOf<'image'>;

/** A frame of a video that hasn't been uploaded. */
export interface VideoMoment {
  /** Seconds from the first frame to the last. */
  readonly lastFrame: number;
  readonly milliseconds: number;
}

/** The facts of a recipe that draws nothing. */
export const NOTHING_DRAWN = { width: 1, height: 1, bars: [], missingGlyphs: 0, warnings: [], timings: {} } as const;

/** The image limits of the caller's plan. */
export interface ImageLimits {
  readonly imagePixels: number;
}

export const DEFAULT_IMAGE_LIMITS: ImageLimits = { imagePixels: 50_000_000 };

/** The maximum side of a JPEG. PNG allows lines of millions of pixels, which are too wide to draw a bar on. */
const MAX_SIDE = 65_535;

export function composeTransparentRecipe(
  canvas: Size,
  overlays: readonly Overlay[],
  requested: RequestedOutput = {},
): TransparentRecipe {
  assertNoCues(overlays);
  return { kind: 'transparent', canvas, overlays, output: transparentOutput(requested) };
}

/** Composes the overlay of one frame of a video. */
export function composeMomentRecipe(
  canvas: Size,
  overlays: readonly Overlay[],
  { lastFrame, milliseconds }: VideoMoment,
): TransparentRecipe {
  const output = transparentOutput({});
  return { kind: 'transparent', canvas, overlays, output, lastFrame, shownAt: milliseconds };
}

/** `lastFrame` makes it the layout of a video. */
export function composeLayoutRecipe(
  canvas: Size,
  overlays: readonly Overlay[],
  { lastFrame, logo }: { readonly lastFrame?: number | undefined; readonly logo?: RecipeLogo | undefined } = {},
): LayoutRecipe {
  return {
    kind: 'layout',
    canvas,
    overlays,
    ...(logo && { logo: withoutImage(logo) }),
    ...(lastFrame !== undefined && { lastFrame }),
  };
}

export interface ImageComposeOptions {
  readonly output?: RequestedOutput;
  /** An image with a longer side is scaled down to it. */
  readonly maxSide?: number;
}

export function composeImageRecipe(
  probe: ImageProbe,
  overlays: readonly Overlay[],
  limits: ImageLimits,
  { output: requested = {}, maxSide = MAX_SIDE }: ImageComposeOptions = {},
): ImageRecipe {
  assertNoCues(overlays);
  const original = { width: probe.width, height: probe.height };
  assertSize(original, limits);
  const { canvas, scaleTo, crops, ...fitted } = sizesOf(original, requested, maxSide);
  assertSize(canvas, limits);
  const isScaled = canvas.width !== original.width || canvas.height !== original.height;
  const isConverted = probe.color !== undefined;
  const output = imageOutput(requested, { isScaled, isConverted, orientation: probe.orientation });
  assertEncodable(canvas, output);
  return {
    kind: 'image',
    canvas,
    overlays,
    decode: {
      maxPixels: limits.imagePixels,
      ignoreProfile: probe.isSrgb,
      ...(probe.color && { color: probe.color }),
      ...(isScaled && { scaleTo }),
      ...(crops && { crops }),
      ...(probe.decoder && { decoder: probe.decoder }),
    },
    ...fitted,
    output,
  };
}

interface ImageSizes extends Pick<ImageRecipe, 'source' | 'isUpscaled' | 'surround'>, Pick<DecodePlan, 'crops'> {
  readonly canvas: Size;
  readonly scaleTo: Size;
}

function sizesOf(original: Size, { fit }: RequestedOutput, maxSide: number): ImageSizes {
  if (fit === undefined || (fit.width === original.width && fit.height === original.height)) {
    const canvas = scaleDown(original, maxSide);
    return { canvas, scaleTo: canvas };
  }
  const canvas = scaleDown(fit, maxSide);
  const isSoft = assertEnlargement(original, { ...fit, ...canvas });
  const { left, top, ...scaleTo } = placeInto(original, canvas, fit.mode).target;
  const isFilled = scaleTo.width === canvas.width && scaleTo.height === canvas.height;
  return {
    canvas,
    scaleTo,
    source: original,
    ...(fit.mode === 'crop' && { crops: true }),
    ...(!isFilled && { surround: { fill: fit.mode === 'blur' ? 'blur' : fit.color, left, top } }),
    ...(isSoft && { isUpscaled: true }),
  };
}

/** The price and the time of a render follow the larger of its asset and its output. */
export function larger(one: Size, other: Size): Size {
  return one.width * one.height > other.width * other.height ? one : other;
}

function scaleDown({ width, height }: Size, maxSide: number): Size {
  const scale = Math.min(1, maxSide / Math.max(width, height));
  const scaled = (side: number): number => Math.max(1, Math.floor(side * scale));
  return { width: scaled(width), height: scaled(height) };
}

function assertSize(canvas: Size, limits: ImageLimits): void {
  const pixels = canvas.width * canvas.height;
  if (pixels > limits.imagePixels) {
    throw new AppError(
      'asset_too_many_pixels',
      `The image has ${pixels} pixels (${canvas.width}x${canvas.height}); the limit is ${limits.imagePixels}. Send a smaller image.`,
      { limit: { limit: limits.imagePixels, actual: pixels } },
    );
  }
  const side = Math.max(canvas.width, canvas.height);
  if (side > MAX_SIDE) {
    const detail = `The image is ${canvas.width}x${canvas.height}; the limit is ${MAX_SIDE} pixels per side. Send a smaller image.`;
    throw new AppError('asset_dimensions_too_large', detail, { limit: { limit: MAX_SIDE, actual: side } });
  }
}

/** A layout needs only the size of the logo. */
function withoutImage({ png: _png, ...logo }: RecipeLogo): RecipeLogo {
  return logo;
}
