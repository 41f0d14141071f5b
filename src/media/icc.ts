// Detects embedded color profiles that are plain sRGB. Their pixels need no conversion, and converting them anyway
// would change some of them by a rounding error.

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

function profileName(profile: Buffer): string | undefined {
  if (profile.length < TAG_COUNT_OFFSET + 4) return undefined;
  const count = Math.min(profile.readUInt32BE(TAG_COUNT_OFFSET), 100);
  for (let tag = 0; tag < count; tag += 1) {
    const at = TAG_COUNT_OFFSET + 4 + tag * TAG_SIZE;
    if (at + TAG_SIZE > profile.length) return undefined;
    if (profile.toString('latin1', at, at + 4) === 'desc') return readText(profile, profile.readUInt32BE(at + 4));
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
