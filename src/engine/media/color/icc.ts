// Detects embedded color profiles that the image decoder should not apply: plain sRGB, where a conversion would only add
// rounding errors, and HDR, where a conversion without tone mapping would clip or wash out the image.

import { type ColorEncoding, encodingOf } from './encoding.ts';

const TAG_COUNT_OFFSET = 128;
const TAG_SIZE = 12;
/**
 * Excludes names that start with "sRGB" but mean linear light or another rendering intent. "c2" is the name of the
 * compact sRGB profile that large photo services embed.
 */
const SRGB_NAME = /^(?:sRGB(?!.*(?:linear|-g1|-labl|v4|appearance))|c2$|uRGB$)/iu;

export function isSrgbProfile(profile: Buffer): boolean {
  const name = profileName(profile);
  return name !== undefined && SRGB_NAME.test(name);
}

const BT2020_PRIMARIES = 9;
const P3_PRIMARIES = 12;
const PQ_TRANSFER = 16;
const HLG_TRANSFER = 18;

/** Returns the encoding of a PQ or HLG profile by its `cicp` tag, else by its name. */
export function hdrEncodingOf(profile: Buffer): ColorEncoding | undefined {
  const tag = tagOffset(profile, 'cicp');
  const codePoints = tag !== undefined && tag + 12 <= profile.length ? profile.subarray(tag + 8, tag + 10) : undefined;
  const [primaries, transfer] = codePoints ?? codePointsByName(profileName(profile) ?? '');
  if (primaries === undefined || (transfer !== PQ_TRANSFER && transfer !== HLG_TRANSFER)) return undefined;
  return encodingOf(primaries, transfer);
}

function codePointsByName(name: string): readonly number[] {
  const isPq = /\bPQ\b|2084/iu.test(name);
  if (!isPq && !/HLG/iu.test(name)) return [];
  return [/P3/iu.test(name) ? P3_PRIMARIES : BT2020_PRIMARIES, isPq ? PQ_TRANSFER : HLG_TRANSFER];
}

function profileName(profile: Buffer): string | undefined {
  const at = tagOffset(profile, 'desc');
  return at === undefined ? undefined : readText(profile, at);
}

function tagOffset(profile: Buffer, name: string): number | undefined {
  if (profile.length < TAG_COUNT_OFFSET + 4) return undefined;
  const count = Math.min(profile.readUInt32BE(TAG_COUNT_OFFSET), 100);
  for (let tag = 0; tag < count; tag += 1) {
    const at = TAG_COUNT_OFFSET + 4 + tag * TAG_SIZE;
    if (at + TAG_SIZE > profile.length) return undefined;
    if (profile.toString('latin1', at, at + 4) === name) return profile.readUInt32BE(at + 4);
  }
  return undefined;
}

function readText(profile: Buffer, at: number): string | undefined {
  if (at + 28 > profile.length) return undefined;
  const type = profile.toString('latin1', at, at + 4);
  if (type === 'desc') {
    const length = profile.readUInt32BE(at + 8);
    return profile.toString('latin1', at + 12, Math.min(at + 12 + length, profile.length)).replace(/\0.*$/su, '');
  }
  if (type !== 'mluc') return undefined;
  const length = profile.readUInt32BE(at + 20);
  const start = at + profile.readUInt32BE(at + 24);
  const text = profile.subarray(start, Math.min(start + length, profile.length));
  return new TextDecoder('utf-16be').decode(text).replace(/\0.*$/su, '');
}
