// Decodes the still image of a HEIC or AVIF file to upright 8-bit sRGB pixels. Loaded on demand, because it needs the
// libraries for video, which only the workers for videos map.

import { setImmediate } from 'node:timers/promises';
import type { Frame } from 'node-av/lib';
import type { Size } from '../../layout/geometry.ts';
import { must } from '../../primitives/must.ts';
import { encodedToSrgb } from '../color/to-srgb.ts';
import { type DecodedImage, type DecodePlan, resizeImage } from '../image.ts';
import { applyAlpha } from './alpha.ts';
import { type CodePoints, type ColorDescription, type ToSrgb, toSrgbOf } from './color-description.ts';
import type { ImageLayout, PlacedImage } from './image-layout.ts';
import { matrixFor } from './matrix.ts';
import { planesOf } from './planes.ts';
import { profileToSrgb } from './profile-to-srgb.ts';
import { damagedHeif, undecodableHeif } from './refusal.ts';
import { codePointsOf, StillDecoder } from './still-decoder.ts';
import { readStillImage, type StillImage } from './still-image.ts';
import { type Canvas, writePixels } from './write-pixels.ts';

/** Tiles reach beyond the edges of the image, and alpha is as large again. */
const DECODED_PER_PIXEL = 4;
/** Tiles have a size of their own, even on a small image. */
const DECODED_AT_LEAST = 20_000_000;

export async function decodeHeif(
  source: Uint8Array,
  plan: Pick<DecodePlan, 'maxPixels' | 'scaleTo'>,
  signal?: AbortSignal,
): Promise<DecodedImage> {
  const still = readStillImage(source);
  const pixels = still.layout.width * still.layout.height;
  if (pixels > plan.maxPixels) throw undecodableHeif('it is larger than its header says');
  const images = new CodedImages(still, DECODED_PER_PIXEL * pixels + DECODED_AT_LEAST, signal);
  try {
    const { canvas, toSrgb } = await decodeColors(still, images);
    if (still.alpha) applyAlpha(canvas, await decodeAlpha(still.alpha.layout, images), still.alpha);
    const image = await convert(canvas, toSrgb);
    return plan.scaleTo ? await resizeImage(image, plan.scaleTo) : image;
  } finally {
    images.free();
  }
}

/** Decodes one coded image after the other. Limits the pixels of all of them together. */
class CodedImages {
  readonly #file: StillImage['file'];
  readonly #decoder: StillDecoder;
  readonly #signal: AbortSignal | undefined;
  #pixelsLeft: number;

  constructor({ file }: StillImage, maxPixels: number, signal: AbortSignal | undefined) {
    this.#file = file;
    this.#pixelsLeft = maxPixels;
    this.#decoder = new StillDecoder(maxPixels);
    this.#signal = signal;
  }

  /** The frame is valid only during the call. */
  async each({ images }: ImageLayout, write: (frame: Frame, image: PlacedImage) => void): Promise<void> {
    for (const image of images) {
      this.#signal?.throwIfAborted();
      const frame = this.#decoder.decode(image.item, this.#file.dataOf(image.item));
      if (frame.width < image.size.width || frame.height < image.size.height) throw damagedHeif();
      this.#pixelsLeft -= frame.width * frame.height;
      if (this.#pixelsLeft < 0) throw undecodableHeif('its tiles have far more pixels than the image');
      write(frame, image);
      // Lets finalizers free the memory of earlier frames, and a cancellation arrive.
      await setImmediate();
    }
  }

  free(): void {
    this.#decoder.free();
  }
}

interface DecodedColors {
  readonly canvas: Canvas;
  readonly toSrgb: ToSrgb;
}

async function decodeColors({ layout, colors, alpha }: StillImage, images: CodedImages): Promise<DecodedColors> {
  let decoded: DecodedColors | undefined;
  await images.each(layout, (frame, { map, clip }) => {
    const planes = planesOf(frame);
    const codePoints = colors.codePoints ?? codePointsOf(frame);
    decoded ??= emptyCanvas(layout, { ...colors, codePoints }, planes.bits, alpha ? 4 : 3);
    const { canvas } = decoded;
    writePixels(canvas, planes, matrixFor(codePoints, planes.bits, whiteOf(canvas)), map, clip);
  });
  return must(decoded, 'the first coded image');
}

function emptyCanvas(
  { width, height }: Size,
  colors: ColorDescription & { readonly codePoints: CodePoints },
  bits: number,
  channels: 3 | 4,
): DecodedColors {
  const toSrgb = toSrgbOf(colors);
  const length = width * height * channels;
  // HDR keeps its depth until it is tone-mapped, because eight bits would show as bands.
  const samples = toSrgb.by === 'encoding' && bits > 8 ? new Uint16Array(length) : new Uint8Array(length);
  return { canvas: { width, height, channels, samples }, toSrgb };
}

async function decodeAlpha(layout: ImageLayout, images: CodedImages): Promise<Canvas> {
  const { width, height } = layout;
  const canvas: Canvas = { width, height, channels: 1, samples: new Uint8Array(width * height) };
  await images.each(layout, (frame, { map, clip }) => {
    const planes = planesOf(frame);
    writePixels(canvas, planes, matrixFor(codePointsOf(frame), planes.bits, whiteOf(canvas)), map, clip);
  });
  return canvas;
}

function whiteOf({ samples }: Canvas): number {
  return samples.BYTES_PER_ELEMENT === 2 ? 65_535 : 255;
}

async function convert({ width, height, channels, samples }: Canvas, toSrgb: ToSrgb): Promise<DecodedImage> {
  if (channels === 1) throw new Error('the colors of the image are on a gray canvas');
  const isDeep = samples.BYTES_PER_ELEMENT === 2;
  const data = isDeep ? new Uint8Array(samples.length) : new Uint8Array(samples.buffer);
  const image = { width, height, channels, data };
  switch (toSrgb.by) {
    case 'nothing':
      return image;
    case 'encoding':
      encodedToSrgb(samples, data, channels, toSrgb.encoding);
      return image;
    case 'profile':
      return await profileToSrgb(image, toSrgb.icc);
  }
}
