// Describes the still image of a HEIF file before it is decoded.

import type { Size } from '../../layout/geometry.ts';
import type { ColorConversion } from '../color/conversion.ts';
import type { ImageProbe } from '../probe-schema.ts';
import { type ColorDescription, colorsOf, toSrgbOf } from './color-description.ts';
import { turnsByExif } from './exif-orientation.ts';
import { type PixelMap, translation, wholeOf } from './geometry.ts';
import { HeifFile, type HeifItem } from './heif-file.ts';
import { type ImageLayout, layOutSource, transform } from './image-layout.ts';

const ALPHA_TYPES: ReadonlySet<string> = new Set([
  'urn:mpeg:mpegB:cicp:systems:auxiliary:alpha',
  'urn:mpeg:hevc:2015:auxid:1',
]);

export interface AlphaImage {
  readonly layout: ImageLayout;
  readonly isPremultiplied: boolean;
  /** Maps pixels of the image before its transformations, which are also those of the alpha image, to the canvas. */
  readonly map: PixelMap;
  readonly sourceSize: Size;
}

export interface StillImage {
  readonly file: HeifFile;
  readonly layout: ImageLayout;
  readonly colors: ColorDescription;
  readonly alpha?: AlphaImage;
}

export function readStillImage(bytes: Uint8Array): StillImage {
  const file = new HeifFile(Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength));
  const { primary } = file;
  const source = layOutSource(file, primary);
  const properties = [...primary.properties, ...turnsByExif(file, primary, source.images[0]?.item.type)];
  const layout = transform(source, properties);
  const alpha = alphaOf(file, { ...primary, properties }, source);
  // Sometimes only the tiles of a grid have a description.
  const described = [primary, ...layout.images.slice(0, 1).map(({ item }) => item)].map(colorsOf);
  const colors = described.find(({ icc, codePoints }) => icc !== undefined || codePoints !== undefined) ?? {};
  return { file, layout, colors, ...(alpha && { alpha }) };
}

/** Returns width and height after rotating and cropping. */
export function probeHeif(bytes: Uint8Array): ImageProbe {
  const { layout, colors } = readStillImage(bytes);
  const color = hdrConversion(colors);
  const { width, height } = layout;
  return { kind: 'image', width, height, isSrgb: false, decoder: 'heif', ...(color && { color }) };
}

/** Reports only that the image is HDR, because the decoder reads the description of the colors itself. */
function hdrConversion(colors: ColorDescription): ColorConversion | undefined {
  const conversion = toSrgbOf(colors);
  return conversion.by === 'encoding' ? { from: 'encoding', bits: 16, encoding: conversion.encoding } : undefined;
}

function alphaOf(file: HeifFile, primary: HeifItem, source: ImageLayout): AlphaImage | undefined {
  const alpha = file.auxiliariesOf(primary).find(isAlpha);
  if (alpha === undefined) return undefined;
  const { width, height } = source;
  const whole = { item: primary, size: { width, height }, map: translation(0, 0), clip: wholeOf(source) };
  const [placed] = transform({ width, height, images: [whole] }, primary.properties).images;
  return {
    layout: layOutSource(file, alpha),
    isPremultiplied: file.isPremultiplied(primary, alpha),
    map: placed?.map ?? translation(0, 0),
    sourceSize: { width, height },
  };
}

/** Longer than every name in `ALPHA_TYPES`. */
const MAX_NAME_BYTES = 64;

function isAlpha({ properties }: HeifItem): boolean {
  const property = properties.find(({ type }) => type === 'auxC');
  const name = property?.body.toString('latin1', 4, 4 + MAX_NAME_BYTES).split('\0', 1)[0];
  return name !== undefined && ALPHA_TYPES.has(name);
}
