// Decodes JPEG, PNG and WebP to upright 8-bit sRGB pixels. This is the only file that calls the image decoder. It runs
// in render workers or in the process of a library user, never in the API server.

import sharp, { type Metadata, type Sharp } from 'sharp';
import { AppError } from '../../shared/errors.ts';
import type { Size } from '../layout/geometry.ts';
import { type ColorConversion, conversionFor } from './color/conversion.ts';
import { isSrgbProfile } from './color/icc.ts';
import { withoutInvalidChunks } from './color/png-color.ts';
import { cmykToSrgb, encodedToSrgb } from './color/to-srgb.ts';
import { lacksMostData } from './data-bounds.ts';
import { isMemoryShort, outOfMemory } from './memory-shortage.ts';
import { hasBrokenPngHeader, PNG_HEADER_LENGTH } from './png-header.ts';
import type { ImageProbe } from './probe-schema.ts';
import { withAlphaHint, withoutOpaqueAlpha } from './webp-alpha.ts';

export interface DecodedImage extends Size {
  readonly channels: 3 | 4;
  readonly data: Uint8Array;
}

/** All other loaders stay blocked: an SVG or TIFF renamed to .png must not reach its decoder. */
const LOADERS = [
  'VipsForeignLoadJpegBuffer',
  'VipsForeignLoadPngBuffer',
  'VipsForeignLoadWebpBuffer',
  'VipsForeignLoadNsgifBuffer',
];

const MAX_ORIENTATION = 8;

/** Call this once per process, before the first image. */
export function lockDownDecoders(): void {
  sharp.block({ operation: ['VipsForeignLoad'] });
  sharp.unblock({ operation: LOADERS });
  sharp.cache(false);
  // One thread per render: more threads speed up a single image a little and concurrent renders not at all.
  sharp.concurrency(1);
}

/** Returns width and height after EXIF orientation. */
export async function probeImage(source: Uint8Array): Promise<ImageProbe> {
  const metadata = await metadataOf(source);
  const { autoOrient, icc, orientation = 1 } = metadata;
  const color = conversionFor(source, metadata);
  const turned = orientation > 1 && orientation <= MAX_ORIENTATION ? { orientation } : {};
  const isSrgb = icc !== undefined && isSrgbProfile(icc);
  return { kind: 'image', ...autoOrient, isSrgb, ...turned, ...(color && { color }) };
}

/** Decoder settings, derived from the probe and the caller's limits. */
export interface DecodePlan {
  readonly maxPixels: number;
  /** Set when the embedded profile is sRGB, where a conversion would only add rounding errors. */
  readonly ignoreProfile: boolean;
  readonly color?: ColorConversion;
  /** Set when the image gets another size. */
  readonly scaleTo?: Size;
  /** The image keeps its aspect ratio and is cut on two sides. Otherwise it is stretched. */
  readonly crops?: true;
  readonly decoder?: 'heif';
}

export async function decodeImage(source: Uint8Array, plan: DecodePlan): Promise<DecodedImage> {
  try {
    return await readPixels(source, 'error', plan);
  } catch (error) {
    // With too little memory, a good image would lose the part that didn't fit.
    if (isMemoryShort(await pixelsOf(source))) throw outOfMemory(error);
    // The image is damaged or truncated. Like browsers, render the part that can be decoded, if there is any.
    const image = await decodeDamaged(source, plan);
    if (isOneColor(image)) throw undecodable('it is truncated before its first pixels');
    return image;
  }
}

/** Resizes pixels that come from another decoder. */
export async function resizeImage(
  { width, height, channels, data }: DecodedImage,
  size: Size,
  crops?: true,
): Promise<DecodedImage> {
  const raw = { width, height, channels };
  const { data: resized, info } = await sharp(data, { raw, limitInputPixels: false })
    .resize({ ...size, fit: fitOf(crops) })
    .raw({ depth: 'uchar' })
    .toBuffer({ resolveWithObject: true });
  return { width: info.width, height: info.height, channels, data: resized };
}

function fitOf(crops: true | undefined): 'cover' | 'fill' {
  return crops ? 'cover' : 'fill';
}

async function decodeDamaged(source: Uint8Array, plan: DecodePlan): Promise<DecodedImage> {
  try {
    return await readPixels(source, 'none', plan);
  } catch (error) {
    throw undecodable('it is damaged or uses an unsupported variant of its format', error);
  }
}

/** Returns 0 if the header can't be read. */
async function pixelsOf(source: Uint8Array): Promise<number> {
  return await metadataOf(source).then(
    ({ width, height }) => width * height,
    () => 0,
  );
}

async function metadataOf(source: Uint8Array): Promise<Metadata> {
  if (hasBrokenPngHeader(source.subarray(0, PNG_HEADER_LENGTH))) throw undecodable('its header is damaged');
  if (lacksMostData(source)) throw undecodable('its data is far too short for the size in its header');
  try {
    return await open(source, { failOn: 'none', limitInputPixels: false }).metadata();
  } catch (error) {
    throw undecodable('its header is damaged', error);
  }
}

interface OpenOptions {
  readonly failOn: 'none' | 'error';
  readonly limitInputPixels: number | false;
  readonly ignoreIcc?: boolean;
}

function open(source: Uint8Array, options: OpenOptions): Sharp {
  return sharp(withoutInvalidChunks(source), { ...options, pages: 1, sequentialRead: true });
}

async function readPixels(source: Uint8Array, failOn: 'none' | 'error', plan: DecodePlan): Promise<DecodedImage> {
  const hinted = withAlphaHint(source);
  const input = open(hinted ?? source, {
    failOn,
    limitInputPixels: plan.maxPixels,
    ignoreIcc: plan.ignoreProfile || plan.color?.from === 'encoding',
  });
  const upright = input.autoOrient();
  const scaled = plan.scaleTo ? upright.resize({ ...plan.scaleTo, fit: fitOf(plan.crops) }) : upright;
  const { data, info } = await toRaw(scaled, plan.color).toBuffer({ resolveWithObject: true });
  const decoded = toEightBitRgb(data, info.channels, plan.color);
  return { width: info.width, height: info.height, ...(hinted ? dropOpaqueAlpha(decoded) : decoded) };
}

function toRaw(image: Sharp, color: ColorConversion | undefined): Sharp {
  switch (color?.from) {
    case undefined:
      return image.toColorspace('srgb').raw({ depth: 'uchar' });
    case 'cmyk':
      return image.pipelineColorspace('cmyk').toColorspace('cmyk').raw({ depth: 'uchar' });
    case 'profile':
      // The decoder converts 8-bit pixels to sRGB, but 16-bit pixels to Display P3, and 16-bit gray not at all.
      return image.pipelineColorspace(color.space).toColorspace('srgb').raw({ depth: 'uchar' });
    case 'encoding':
      return color.bits === 16
        ? image.toColorspace('rgb16').raw({ depth: 'ushort' })
        : image.toColorspace('srgb').raw({ depth: 'uchar' });
  }
}

/** Converts the decoder's output to RGB or RGBA. */
function toEightBitRgb(data: Buffer, channels: number, color: ColorConversion | undefined): EightBitPixels {
  if (color?.from === 'cmyk') {
    if (channels !== 4) throw new Error(`image decoder returned ${channels} channels of CMYK`);
    const rgb = new Uint8Array((data.length / 4) * 3);
    cmykToSrgb(data, rgb);
    return { data: rgb, channels: 3 };
  }
  if (channels !== 3 && channels !== 4) throw new Error(`image decoder returned ${channels} channels`);
  if (color?.from !== 'encoding') return { data, channels };
  const isDeep = color.bits === 16;
  const samples = isDeep ? new Uint16Array(data.buffer, data.byteOffset, data.length / 2) : data;
  const rgb = isDeep ? new Uint8Array(samples.length) : data;
  encodedToSrgb(samples, rgb, channels, color.encoding);
  return { data: rgb, channels };
}

interface EightBitPixels {
  readonly data: Uint8Array;
  readonly channels: 3 | 4;
}

function dropOpaqueAlpha(image: EightBitPixels): EightBitPixels {
  if (image.channels === 3) return image;
  const rgb = withoutOpaqueAlpha(image.data);
  return rgb ? { data: rgb, channels: 3 } : image;
}

/** A decoder that finds no pixel data fills the image with one color, so each pixel equals the one before it. */
function isOneColor({ data, channels }: DecodedImage): boolean {
  return Buffer.compare(data.subarray(channels), data.subarray(0, -channels)) === 0;
}

function undecodable(reason: string, cause?: unknown): AppError {
  const advice = 'Export it again as JPEG, PNG or WebP and upload the new file.';
  return new AppError('asset_undecodable', `The image can't be decoded: ${reason}. ${advice}`, { cause });
}
