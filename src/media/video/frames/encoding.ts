// How the picture is compressed: numbers only. Constant quality decides the size; a ceiling relative to the source keeps
// a small clip small. Measurements behind the numbers: docs/decisions/0010-video-encoder.md.

import type { Size } from '../../../layout/geometry.ts';

export interface EncoderSettings {
  readonly preset: string;
  readonly crf: number;
  /** Bits per second that no stretch may exceed, and the reservoir it is measured with. */
  readonly maxRate: number;
  readonly bufferSize: number;
  /** Frames between two points a player can jump to, at most. */
  readonly keyframeInterval: number;
}

interface SourceRate {
  readonly codec: string;
  readonly bitRate: number;
}

const PRESET = 'veryfast';
const CRF = 19;

/** What our fast H.264 needs for the same picture, as a multiple of what the source's codec needed. */
const ALLOWANCE: Readonly<Record<string, number>> = { hevc: 2, vp9: 2, av1: 2.5 };
const DEFAULT_ALLOWANCE = 1.5;
/** Bits per pixel that are always granted: the text of the bars is new detail, whatever the source spent. */
const FLOOR_BITS_PER_PIXEL = 0.04;
const FLOOR_BITS_PER_SECOND = 200_000;
const BUFFER_SECONDS = 1;
const KEYFRAME_INTERVAL = 250;

export function encoderSettings(canvas: Size, frameRate: number, source: SourceRate): EncoderSettings {
  const rate = Math.max(frameRate, 1);
  const floor = Math.max(FLOOR_BITS_PER_SECOND, canvas.width * canvas.height * rate * FLOOR_BITS_PER_PIXEL);
  const maxRate = Math.round(Math.max(floor, source.bitRate * (ALLOWANCE[source.codec] ?? DEFAULT_ALLOWANCE)));
  return {
    preset: PRESET,
    crf: CRF,
    maxRate,
    bufferSize: Math.round(maxRate * BUFFER_SECONDS),
    keyframeInterval: KEYFRAME_INTERVAL,
  };
}
