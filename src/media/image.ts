// Decodes JPEG, PNG and WebP to upright 8-bit sRGB pixels. This is the only file that calls the image decoder. It runs
// in render workers or in the process of a library user, never in the API server.

import sharp, { type Metadata, type Sharp } from 'sharp';
import { AppError } from '../errors.ts';
import type { Size } from '../layout/geometry.ts';
import { isSrgbProfile } from './icc.ts';
import { hasBrokenPngHeader, PNG_HEADER_LENGTH } from './png-header.ts';

export interface ImageProbe extends Size {
  readonly kind: 'image';
  /** The image embeds a color profile, and that profile is sRGB. */
  readonly isSrgb: boolean;
}

export interface DecodedImage extends Size {
  readonly channels: 3 | 4;
  readonly data: Uint8Array;
  /** Free bytes directly before `data` in the same buffer. An encoder can write its header there. */
  readonly headroom: number;
}

/** Room for the largest header. The decoder adds it as rows above the image, which avoids copying all pixels later. */
const HEADROOM_BYTES = 128;

/** All other loaders stay blocked: an SVG or TIFF renamed to .png must not reach its decoder. */
const LOADERS = ['VipsForeignLoadJpegBuffer', 'VipsForeignLoadPngBuffer', 'VipsForeignLoadWebpBuffer'];

/** Call this once per process, before the first image. */
export function lockDownDecoders(): void {
  sharp.block({ operation: ['VipsForeignLoad'] });
  sharp.unblock({ operation: LOADERS });
  sharp.cache(false);
  // One thread per render: more threads speed up a single image a little and concurrent renders not at all.
  sharp.concurrency(1);
}

/** Width and height are those after EXIF orientation. */
export async function probeImage(source: Uint8Array): Promise<ImageProbe> {
  const { autoOrient, icc } = await metadataOf(source);
  return { kind: 'image', ...autoOrient, isSrgb: icc !== undefined && isSrgbProfile(icc) };
}

/** Decoder settings, derived from the probe and the caller's limits. */
export interface DecodePlan {
  readonly width: number;
  readonly maxPixels: number;
  /** Set when the embedded profile is sRGB, where a conversion would only add rounding errors. */
  readonly ignoreProfile: boolean;
}

export async function decodeImage(source: Uint8Array, plan: DecodePlan): Promise<DecodedImage> {
  try {
    return await readPixels(source, 'error', plan);
  } catch {
    // Damaged or truncated. Like browsers, render the part that can be decoded, if there is any.
    const image = await decodeDamaged(source, plan);
    if (isOneColor(image)) throw undecodable('it is truncated before its first pixels');
    return image;
  }
}

async function decodeDamaged(source: Uint8Array, plan: DecodePlan): Promise<DecodedImage> {
  try {
    return await readPixels(source, 'none', plan);
  } catch (error) {
    throw undecodable('it is damaged or uses an unsupported variant of its format', error);
  }
}

async function metadataOf(source: Uint8Array): Promise<Metadata> {
  if (hasBrokenPngHeader(source.subarray(0, PNG_HEADER_LENGTH))) throw undecodable('its header is damaged');
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
  return sharp(source, { ...options, pages: 1, sequentialRead: true });
}

async function readPixels(source: Uint8Array, failOn: 'none' | 'error', plan: DecodePlan): Promise<DecodedImage> {
  const headroomRows = Math.ceil(HEADROOM_BYTES / (plan.width * 3));
  const { data, info } = await open(source, {
    failOn,
    limitInputPixels: plan.maxPixels,
    ignoreIcc: plan.ignoreProfile,
  })
    .autoOrient()
    .extend({ top: headroomRows })
    .toColorspace('srgb')
    .raw({ depth: 'uchar' })
    .toBuffer({ resolveWithObject: true });
  if (info.channels !== 3 && info.channels !== 4) throw new Error(`image decoder returned ${info.channels} channels`);
  const headroom = headroomRows * info.width * info.channels;
  return {
    width: info.width,
    height: info.height - headroomRows,
    channels: info.channels,
    data: data.subarray(headroom),
    headroom,
  };
}

/** A decoder that finds no pixel data fills the image with one color. */
function isOneColor({ data, channels }: DecodedImage): boolean {
  return data.every((value, index) => value === data[index % channels]);
}

function undecodable(reason: string, cause?: unknown): AppError {
  const advice = 'Export it again as JPEG, PNG or WebP and upload the new file.';
  return new AppError('asset_undecodable', `The image can't be decoded: ${reason}. ${advice}`, { cause });
}
