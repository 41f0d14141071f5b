// The meaning of a HEIF image's samples: by its `colr` properties, else by its bitstream.

import { type ColorEncoding, encodingOf, isSrgbEncoding } from '../color/encoding.ts';
import { hdrEncodingOf, isSrgbProfile } from '../color/icc.ts';
import { ByteReader } from './byte-reader.ts';
import type { HeifItem } from './heif-file.ts';

/** Code points of ITU-T H.273. */
export interface CodePoints {
  readonly primaries: number;
  readonly transfer: number;
  readonly matrix: number;
  readonly isFullRange: boolean;
}

export interface ColorDescription {
  readonly icc?: Buffer;
  readonly codePoints?: CodePoints;
}

const UNSPECIFIED = 2;
const SRGB_TRANSFER = 13;
const BT709_PRIMARIES = 1;
/** The curves of television cameras, which photo software writes when it means sRGB. */
const CAMERA_TRANSFERS: ReadonlySet<number> = new Set([1, 6, 14, 15]);

/**
 * An item can have both kinds of properties. Then the profile determines the colors, and the code points the matrix.
 */
export function colorsOf({ properties }: HeifItem): ColorDescription {
  let icc: Buffer | undefined;
  let codePoints: CodePoints | undefined;
  for (const { type, body } of properties) {
    if (type !== 'colr') continue;
    const reader = new ByteReader(body);
    const kind = reader.text(4);
    if (kind === 'prof' || kind === 'rICC') icc ??= reader.rest;
    if (kind === 'nclx') codePoints ??= readCodePoints(reader);
  }
  return { ...(icc && { icc }), ...(codePoints && { codePoints }) };
}

function readCodePoints(reader: ByteReader): CodePoints {
  const [primaries, transfer, matrix] = [reader.number(2), reader.number(2), reader.number(2)];
  return { primaries, transfer, matrix, isFullRange: reader.number(1) >= 0x80 };
}

/** The way from the image's RGB to sRGB. */
export type ToSrgb =
  | { readonly by: 'nothing' }
  | { readonly by: 'encoding'; readonly encoding: ColorEncoding }
  | { readonly by: 'profile'; readonly icc: Buffer };

export function toSrgbOf({ icc, codePoints }: ColorDescription): ToSrgb {
  if (icc === undefined) {
    const encoding = codePoints && encodingOfCodePoints(codePoints);
    return encoding && !isSrgb(encoding) ? { by: 'encoding', encoding } : { by: 'nothing' };
  }
  if (isSrgbProfile(icc)) return { by: 'nothing' };
  const encoding = hdrEncodingOf(icc);
  return encoding ? { by: 'encoding', encoding } : { by: 'profile', icc };
}

/** A code point for a gamma of 2.2 means exactly that, unlike the number in an old PNG. */
function isSrgb(encoding: ColorEncoding): boolean {
  return encoding.transfer === 'srgb' && isSrgbEncoding(encoding);
}

function encodingOfCodePoints({ primaries, transfer }: CodePoints): ColorEncoding | undefined {
  const isPlain = transfer === UNSPECIFIED || CAMERA_TRANSFERS.has(transfer);
  const known = primaries === UNSPECIFIED ? BT709_PRIMARIES : primaries;
  return encodingOf(known, isPlain ? SRGB_TRANSFER : transfer);
}
