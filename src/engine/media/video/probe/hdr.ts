// Reads the HDR metadata of a stream.

import {
  AV_FRAME_DATA_CONTENT_LIGHT_LEVEL,
  AV_FRAME_DATA_MASTERING_DISPLAY_METADATA,
  AV_PKT_DATA_DOVI_CONF,
} from 'node-av/constants';
import type { Frame, Stream } from 'node-av/lib';
import { DEFAULT_PEAK_NITS } from '../frames/tone-curve.ts';

/** Higher values are never accurate for a clip, and would darken everything else. */
const MAX_PEAK_NITS = 4_000;

/** Returns MaxCLL if present, else the peak of the mastering display, else the default. */
export function peakNitsOf(frame: Frame): number {
  const lightLevel = frame.getSideData(AV_FRAME_DATA_CONTENT_LIGHT_LEVEL);
  const maxCll = lightLevel !== null && lightLevel.length >= 4 ? lightLevel.readUInt32LE(0) : 0;
  const nits = maxCll > 0 ? maxCll : (masteringPeak(frame) ?? DEFAULT_PEAK_NITS);
  return Math.min(nits, MAX_PEAK_NITS);
}

/** AVMasteringDisplayMetadata: eight rationals (primaries, white point), min and max luminance, then two flags. */
const MAX_LUMINANCE_OFFSET = 72;
const HAS_LUMINANCE_OFFSET = 84;

function masteringPeak(frame: Frame): number | undefined {
  const display = frame.getSideData(AV_FRAME_DATA_MASTERING_DISPLAY_METADATA);
  if (display === null || display.length < HAS_LUMINANCE_OFFSET + 4) return undefined;
  const [num, den] = [display.readInt32LE(MAX_LUMINANCE_OFFSET), display.readInt32LE(MAX_LUMINANCE_OFFSET + 4)];
  return display.readInt32LE(HAS_LUMINANCE_OFFSET) !== 0 && num > 0 && den > 0 ? num / den : undefined;
}

/** AVDOVIDecoderConfigurationRecord: version (2 bytes), profile, level, three flags, base layer compatibility. */
const PROFILE_OFFSET = 2;
const COMPATIBILITY_OFFSET = 7;

/** Profile 5 has no base layer that other players can show. */
export function needsDolbyVision(stream: Stream): boolean {
  const record = stream.codecpar.getCodedSideData(AV_PKT_DATA_DOVI_CONF);
  if (record === null || record.length <= COMPATIBILITY_OFFSET) return false;
  return record[PROFILE_OFFSET] === 5 && record[COMPATIBILITY_OFFSET] === 0;
}
