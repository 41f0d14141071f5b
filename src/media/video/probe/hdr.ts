// What a stream says about its own high dynamic range.

import {
  AV_FRAME_DATA_CONTENT_LIGHT_LEVEL,
  AV_FRAME_DATA_MASTERING_DISPLAY_METADATA,
  AV_PKT_DATA_DOVI_CONF,
} from 'node-av/constants';
import type { Frame, Stream } from 'node-av/lib';
import { DEFAULT_PEAK_NITS } from '../frames/tone-curve.ts';

/** Brighter claims are never true of a clip, and would darken everything else. */
const MAX_PEAK_NITS = 4_000;

/** MaxCLL, else the mastering screen's maximum, else what is usual. */
export function peakNitsOf(frame: Frame): number {
  const light = frame.getSideData(AV_FRAME_DATA_CONTENT_LIGHT_LEVEL);
  const brightest = light !== null && light.length >= 4 ? light.readUInt32LE(0) : 0;
  const nits = brightest > 0 ? brightest : (masteringPeak(frame) ?? DEFAULT_PEAK_NITS);
  return Math.min(nits, MAX_PEAK_NITS);
}

/** Eight rationals of primaries and white point, then least and greatest luminance, then a flag whether those are set. */
const MAX_LUMINANCE_AT = 72;
const HAS_LUMINANCE_AT = 84;

function masteringPeak(frame: Frame): number | undefined {
  const screen = frame.getSideData(AV_FRAME_DATA_MASTERING_DISPLAY_METADATA);
  if (screen === null || screen.length < HAS_LUMINANCE_AT + 4) return undefined;
  const [num, den] = [screen.readInt32LE(MAX_LUMINANCE_AT), screen.readInt32LE(MAX_LUMINANCE_AT + 4)];
  return screen.readInt32LE(HAS_LUMINANCE_AT) !== 0 && num > 0 && den > 0 ? num / den : undefined;
}

/** The configuration record: version (2), profile, level, three flags, compatibility of the base layer. */
const PROFILE_AT = 2;
const COMPATIBILITY_AT = 7;

export function needsDolbyVision(stream: Stream): boolean {
  const record = stream.codecpar.getCodedSideData(AV_PKT_DATA_DOVI_CONF);
  if (record === null || record.length <= COMPATIBILITY_AT) return false;
  return record[PROFILE_AT] === 5 && record[COMPATIBILITY_AT] === 0;
}
