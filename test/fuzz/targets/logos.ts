// Logos: images that are decoded, stored as PNG, and scaled for each render.

import sharp from 'sharp';
import { AppError } from '../../../src/shared/errors.ts';
import { decodeImage, lockDownDecoders } from '../../../src/engine/media/image.ts';
import { scaleLogo } from '../../../src/engine/media/logo.ts';
import { probeStill } from '../../../src/engine/media/probe-still.ts';
import { isHeifFormat, isVideoFormat, sniff } from '../../../src/engine/media/sniff.ts';
import { check } from '../check.ts';

/** A larger image takes so long that too few others would be tried. */
const MAX_PIXELS = 256 * 256;
const PLACE = { width: 12, height: 7, opacity: 0.5 };
const CODES = new Set(['asset_undecodable', 'asset_too_large', 'unsupported_asset']);

lockDownDecoders();

/** A logo that is accepted can be drawn at any size, and isn't less transparent than asked for. */
export async function fuzz(file: Buffer): Promise<void> {
  const format = sniff(file);
  // Decoders of videos run as programs of their own, and have a target for their headers.
  if (format === undefined || isVideoFormat(format) || isHeifFormat(format)) return;
  try {
    const { width, height, isSrgb, color } = await probeStill(file, format);
    check(width > 0 && height > 0, 'the image has a size');
    if (width * height > MAX_PIXELS) return;
    const plan = { maxPixels: MAX_PIXELS, ignoreProfile: isSrgb, ...(color && { color }) };
    const { data, ...size } = await decodeImage(file, plan);
    check(data.length === size.width * size.height * size.channels, 'all pixels are decoded');
    checkScaled(await scaleLogo(await sharp(data, { raw: size }).png().toBuffer(), PLACE));
  } catch (error) {
    if (!(error instanceof AppError) || !CODES.has(error.code)) throw error;
  }
}

function checkScaled(pixels: Uint8ClampedArray): void {
  check(pixels.length === PLACE.width * PLACE.height * 4, 'the logo fills its place');
  for (let at = 0; at < pixels.length; at += 4) {
    const [red = 0, green = 0, blue = 0, alpha = 0] = pixels.subarray(at, at + 4);
    check(alpha <= 128, 'the logo has its opacity');
    check(alpha > 0 || red + green + blue === 0, 'transparent pixels are 0');
  }
}
