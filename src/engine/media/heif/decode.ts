// Decodes the still image of a HEIC or AVIF file to upright 8-bit sRGB pixels. This file is loaded on demand, because
// it needs the libraries for video, which only the workers for videos load.

import { setImmediate } from 'node:timers/promises';
import type { Size } from '../../layout/geometry.ts';
import type { Frame } from 'node-av/lib';
import { type DecodedImage, type DecodePlan, resizeImage } from '../image.ts';
import { applyAlpha } from './alpha.ts';
import { type ColorDescription, type ToSrgb, toSrgbOf } from './color-description.ts';
import { mappingOfEncoding, mappingOfProfile } from './color-mapping.ts';
import { type Canvas, Converter } from './converter.ts';
import type { ImageLayout, PlacedImage } from './image-layout.ts';
import { matrixFor } from './matrix.ts';
import { planesOf } from './planes.ts';
import { profileToSrgb } from './profile-to-srgb.ts';
import { damagedHeif, undecodableHeif } from './refusal.ts';
import { codePointsOf, StillDecoder } from './still-decoder.ts';
import { readStillImage, type StillImage } from './still-image.ts';

/** Tiles reach beyond the edges of the image, and alpha has as many pixels again. */
const DECODED_PER_PIXEL = 4;
/** The minimum, because even a small image can have large tiles. */
const DECODED_AT_LEAST = 20_000_000;
const MAX_PADDING = 128;

export async function decodeHeif(
  source: Uint8Array,
  plan: Pick<DecodePlan, 'maxPixels' | 'scaleTo' | 'crops'>,
  signal?: AbortSignal,
): Promise<DecodedImage> {
  const still = readStillImage(source);
  const pixels = still.layout.width * still.layout.height;
  if (pixels > plan.maxPixels) throw undecodableHeif('it is larger than its header says');
  const maxDecoded = DECODED_PER_PIXEL * pixels + DECODED_AT_LEAST;
  if (still.alpha && still.alpha.layout.width * still.alpha.layout.height > maxDecoded) throw damagedHeif();
  const images = new CodedImages(still, maxDecoded, signal);
  try {
    const image = await decodeColors(still, images);
    if (still.alpha) applyAlpha(image, await decodeAlpha(still.alpha.layout, images), still.alpha);
    return plan.scaleTo ? await resizeImage(image, plan.scaleTo, plan.crops) : image;
  } finally {
    images.free();
  }
}

/** Decodes one coded image after the other, and limits their pixels in total. */
class CodedImages {
  readonly #file: StillImage['file'];
  readonly #decoder: StillDecoder;
  readonly #signal: AbortSignal | undefined;
  #pixelsLeft: number;

  constructor({ file, layout, alpha }: StillImage, maxPixels: number, signal: AbortSignal | undefined) {
    this.#file = file;
    this.#pixelsLeft = maxPixels;
    const sizes = [...layout.images, ...(alpha?.layout.images ?? [])].map(({ size }) => paddedPixels(size));
    // Each decoder gets a share of the limit, or a bitstream larger than its header says could use the memory of all
    // tiles.
    this.#decoder = new StillDecoder(Math.min(maxPixels, Math.max(DECODED_AT_LEAST, ...sizes)));
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
      // This lets finalizers free the memory of earlier frames, and a cancellation arrive.
      await setImmediate();
    }
  }

  free(): void {
    this.#decoder.free();
  }
}

/** Encoders pad an image to whole blocks. */
function paddedPixels({ width, height }: Size): number {
  return (width + MAX_PADDING) * (height + MAX_PADDING);
}

async function decodeColors({ layout, colors, alpha }: StillImage, images: CodedImages): Promise<DecodedImage> {
  const canvas = emptyCanvas(layout, alpha ? 4 : 3);
  let conversion: Conversion | undefined;
  await images.each(layout, (frame, { map, clip }) => {
    const planes = planesOf(frame);
    const codePoints = colors.codePoints ?? codePointsOf(frame);
    conversion ??= conversionFor({ ...colors, codePoints });
    const { converter } = conversion;
    converter.write(canvas, planes, matrixFor(codePoints, planes, converter.white), map, clip);
  });
  return conversion?.profile ? await profileToSrgb(canvas, conversion.profile) : canvas;
}

interface Conversion {
  readonly converter: Converter;
  /** Set when the pixels that the converter writes still have to be converted. */
  readonly profile?: Buffer;
}

function conversionFor(colors: ColorDescription): Conversion {
  const toSrgb: ToSrgb = toSrgbOf(colors);
  switch (toSrgb.by) {
    case 'nothing':
      return { converter: new Converter() };
    case 'encoding':
      return { converter: new Converter(mappingOfEncoding(toSrgb.encoding)) };
    case 'profile': {
      const mapping = mappingOfProfile(toSrgb.icc);
      return mapping ? { converter: new Converter(mapping) } : { converter: new Converter(), profile: toSrgb.icc };
    }
  }
}

async function decodeAlpha(layout: ImageLayout, images: CodedImages): Promise<Canvas> {
  const canvas = emptyCanvas(layout, 3);
  const converter = new Converter();
  await images.each(layout, (frame, { map, clip }) => {
    const { chroma: _, ...gray } = planesOf(frame);
    converter.write(canvas, gray, matrixFor(codePointsOf(frame), gray, converter.white), map, clip);
  });
  return canvas;
}

function emptyCanvas<Channels extends 3 | 4>({ width, height }: ImageLayout, channels: Channels) {
  return { width, height, channels, data: new Uint8Array(width * height * channels) };
}
