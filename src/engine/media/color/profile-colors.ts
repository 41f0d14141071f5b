// Converts the colors of an overlay to those of an image with an embedded color profile, so that the image can keep both its
// pixels and its profile. That works for profiles of three primaries and their tone curves, and for gray ones.

import { inverse, type Matrix3, multiply } from './matrix.ts';
import { type ProfileTags, readTags } from './profile-tags.ts';
import { SRGB_PRIMARIES } from './srgb-primaries.ts';
import { type ToneCurve, toneCurve } from './tone-curves.ts';
import { encodingToLight } from './to-srgb.ts';

/** Converts straight RGBA words, the lowest byte of which is red, in place. */
export type ConvertWords = (words: Int32Array) => void;

/** Profiles of phones and cameras have up to a few kilobytes. Larger ones hold tables, or something else. */
const MAX_PROFILE_BYTES = 65_536;
/** A profile with one of these describes colors by tables instead. */
const TABLE_TAGS = ['A2B0', 'A2B1', 'A2B2', 'D2B0', 'D2B1', 'D2B2', 'D2B3'];

/** Returns `undefined` for a profile that isn't of the supported kinds, or isn't for images with this number of components. */
export function conversionToProfile(profile: Uint8Array, components: number): ConvertWords | undefined {
  const tags = profile.length <= MAX_PROFILE_BYTES ? readTags(profile) : undefined;
  if (tags === undefined || tags.connectionSpace !== 'XYZ ' || TABLE_TAGS.some((name) => tags.has(name)))
    return undefined;
  if (tags.colorSpace === 'GRAY' && components === 1) return grayConversion(tags);
  return tags.colorSpace === 'RGB ' && components === 3 ? rgbConversion(tags) : undefined;
}

function grayConversion(tags: ProfileTags): ConvertWords | undefined {
  const curve = toneCurve(tags.data('kTRC'));
  if (curve === undefined) return undefined;
  const toLevel = levelsOf(curve);
  const levels = Uint8Array.from(SRGB_LIGHT, (light) => toLevel[Math.round(light * STEPS)] ?? 0);
  return (words) => {
    for (let index = 0; index < words.length; index += 1) {
      const word = words[index] ?? 0;
      const level = levels[word & 255] ?? 0;
      words[index] = (word & ~0xffffff) | (level << 16) | (level << 8) | level;
    }
  };
}

/** Fine enough for the steep start of tone curves. */
const STEPS = 16_384;
const SRGB_LIGHT = Float64Array.from({ length: 256 }, (_, level) => encodingToLight('srgb', level / 255));

/** The 8-bit levels of a component by linear light. */
function levelsOf(curve: ToneCurve): Uint8Array {
  return Uint8Array.from(curve.signals(STEPS), (signal) => Math.round(255 * signal));
}

function rgbConversion(tags: ProfileTags): ConvertWords | undefined {
  const curves = ['rTRC', 'gTRC', 'bTRC'].map((name) => toneCurve(tags.data(name)));
  const primaries = ['rXYZ', 'gXYZ', 'bXYZ'].map((name) => tags.numbers(name));
  const [red, green, blue] = primaries;
  if (red === undefined || green === undefined || blue === undefined) return undefined;
  const [toRed, toGreen, toBlue] = curves.map((curve) => curve && levelsOf(curve));
  if (toRed === undefined || toGreen === undefined || toBlue === undefined) return undefined;
  const matrix = lightMatrix(red, green, blue);
  if (matrix === undefined) return undefined;
  const [rr, rg, rb, gr, gg, gb, br, bg, bb] = matrix;
  const level = (levels: Uint8Array, light: number): number =>
    levels[Math.min(STEPS, Math.max(0, Math.round(light * STEPS)))] ?? 0;
  const convert = (word: number): number => {
    const r = SRGB_LIGHT[word & 255] ?? 0;
    const g = SRGB_LIGHT[(word >>> 8) & 255] ?? 0;
    const b = SRGB_LIGHT[(word >>> 16) & 255] ?? 0;
    const first = level(toRed, rr * r + rg * g + rb * b);
    const second = level(toGreen, gr * r + gg * g + gb * b);
    return (word & ~0xffffff) | (level(toBlue, br * r + bg * g + bb * b) << 16) | (second << 8) | first;
  };
  return (words) => {
    // Most of an overlay has one color.
    let [last, converted] = [0, 0];
    for (let index = 0; index < words.length; index += 1) {
      const word = words[index] ?? 0;
      if (word !== last) {
        last = word;
        converted = word >>> 24 === 0 ? word : convert(word);
      }
      words[index] = converted;
    }
  };
}

type Numbers = readonly [number, number, number];

/** From the light of sRGB to that of the profile. White stays white, whatever white the profile has. */
function lightMatrix(red: Numbers, green: Numbers, blue: Numbers): Matrix3 | undefined {
  const primaries: Matrix3 = [red[0], green[0], blue[0], red[1], green[1], blue[1], red[2], green[2], blue[2]];
  const [rr, rg, rb, gr, gg, gb, br, bg, bb] = multiply(inverse(primaries), SRGB_PRIMARIES);
  const [r, g, b] = [rr + rg + rb, gr + gg + gb, br + bg + bb];
  const matrix: Matrix3 = [rr / r, rg / r, rb / r, gr / g, gg / g, gb / g, br / b, bg / b, bb / b];
  return matrix.every(Number.isFinite) ? matrix : undefined;
}
