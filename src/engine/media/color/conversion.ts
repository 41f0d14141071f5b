// Decides which conversion an image needs beyond what the image decoder does on its own.

import type { Metadata } from 'sharp';
import { type ColorEncoding, isSrgbEncoding } from './encoding.ts';
import { hdrEncodingOf, isSrgbProfile } from './icc.ts';
import { pngEncoding } from './png-color.ts';

/**
 * `profile`: 16-bit pixels with an embedded profile. `encoding`: chunks or an HDR profile describe the colors. `cmyk`:
 * no profile describes the inks.
 */
export type ColorConversion =
  | { readonly from: 'profile'; readonly space: 'srgb' | 'b-w' }
  | { readonly from: 'encoding'; readonly bits: 8 | 16; readonly encoding: ColorEncoding }
  | { readonly from: 'cmyk' };

type ImageHeader = Pick<Metadata, 'space' | 'depth' | 'icc'>;

export function conversionFor(source: Uint8Array, { space, depth, icc }: ImageHeader): ColorConversion | undefined {
  if (space === 'cmyk') return icc === undefined ? { from: 'cmyk' } : undefined;
  const bits = depth === 'ushort' ? 16 : 8;
  const chunks = pngEncoding(source, icc !== undefined);
  const encoding = chunks ?? (icc && hdrEncodingOf(icc));
  // An encoding that equals sRGB needs no conversion, unless it overrules a profile.
  if (encoding && (icc || !isSrgbEncoding(encoding))) return { from: 'encoding', bits, encoding };
  if (bits === 8 || icc === undefined || isSrgbProfile(icc)) return undefined;
  return { from: 'profile', space: space === 'grey16' ? 'b-w' : 'srgb' };
}
