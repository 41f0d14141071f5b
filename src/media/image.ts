// Images in: JPEG, PNG and WebP to upright 8-bit sRGB pixels. The only place that calls the image decoder; runs in render
// workers (or in a library caller's own process), never in the server.

import sharp, { type Metadata, type Sharp } from 'sharp';
import { AppError } from '../errors.ts';
import type { Size } from '../layout/geometry.ts';
import { isSrgbProfile } from './icc.ts';
import { hasBrokenPngHeader, PNG_HEADER_LENGTH } from './png-header.ts';

export interface ImageProbe extends Size {
  readonly kind: 'image';
  /** It carries a color profile, and that is plain sRGB. */
  readonly isSrgb: boolean;
}

export interface DecodedImage extends Size {
  readonly channels: 3 | 4;
  readonly data: Uint8Array;
  /** Bytes of the same buffer directly in front of `data` that an encoder may use for its header. */
  readonly headroom: number;
}

/** What a header needs at most. Asked for as rows above the picture, so that megabytes of pixels are not copied later. */
const HEADROOM_BYTES = 128;

/** Every other loader stays locked: an SVG or a TIFF renamed to .png must not reach its decoder. */
const LOADERS = ['VipsForeignLoadJpegBuffer', 'VipsForeignLoadPngBuffer', 'VipsForeignLoadWebpBuffer'];

/** Call once per process, before the first image. */
export function lockDownDecoders(): void {
  sharp.block({ operation: ['VipsForeignLoad'] });
  sharp.unblock({ operation: LOADERS });
  sharp.cache(false);
  // One render, one core: more threads help one image a little and ten at a time not at all.
  sharp.concurrency(1);
}

/** Width and height are as seen, after the orientation the camera noted. */
export async function probeImage(source: Uint8Array): Promise<ImageProbe> {
  const { autoOrient, icc } = await metadataOf(source);
  return { kind: 'image', ...autoOrient, isSrgb: icc !== undefined && isSrgbProfile(icc) };
}

/** Everything the decoder has to know, from the probe and the caller's limits. */
export interface DecodePlan {
  readonly width: number;
  readonly maxPixels: number;
  /** The embedded profile is sRGB itself, and converting by it would only round. */
  readonly ignoreProfile: boolean;
}

export async function decodeImage(source: Uint8Array, plan: DecodePlan): Promise<DecodedImage> {
  try {
    return await readPixels(source, 'error', plan);
  } catch {
    // Damaged, or cut off on the way. Browsers show what there is, and so do we, as long as there is anything.
    const image = await decodeDamaged(source, plan);
    if (isOneColor(image)) throw undecodable('it breaks off before the first pixels');
    return image;
  }
}

async function decodeDamaged(source: Uint8Array, plan: DecodePlan): Promise<DecodedImage> {
  try {
    return await readPixels(source, 'none', plan);
  } catch (error) {
    throw undecodable('it is damaged, or of a rare variant', error);
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
  if (info.channels !== 3 && info.channels !== 4) throw new Error(`decoder gave ${info.channels} channels`);
  const headroom = headroomRows * info.width * info.channels;
  return {
    width: info.width,
    height: info.height - headroomRows,
    channels: info.channels,
    data: data.subarray(headroom),
    headroom,
  };
}

/** A decoder that found nothing to decode fills the frame with one value. */
function isOneColor({ data, channels }: DecodedImage): boolean {
  return data.every((value, index) => value === data[index % channels]);
}

function undecodable(reason: string, cause?: unknown): AppError {
  return new AppError('asset_undecodable', `The image cannot be decoded: ${reason}.`, { cause });
}
