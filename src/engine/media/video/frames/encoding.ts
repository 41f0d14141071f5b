// Encoder settings. Constant quality determines the size, and a maximum bit rate relative to the source keeps a small
// clip small. docs/decisions/0010-video-encoder.md has the measurements behind the numbers.

import type { Size } from '../../../layout/geometry.ts';

export interface EncoderSettings {
  readonly preset: string;
  readonly crf: number;
  /** The maximum bit rate, and the size in bits of the rate-control buffer that enforces it. */
  readonly maxRate: number;
  readonly bufferSize: number;
  /** The maximum number of frames between two keyframes. */
  readonly keyframeInterval: number;
  /** Set while the size is limited; see `transcode-within.ts`. */
  readonly pass?: EncoderPass;
}

/** The first pass has the constant quality and writes statistics. The second one reads them and has a bit rate. */
type EncoderPass =
  | { readonly number: 1; readonly statistics: string }
  | { readonly number: 2; readonly statistics: string; readonly bitRate: number };

interface SourceRate {
  readonly codec: string;
  readonly bitRate: number;
}

const PRESET = 'veryfast';
const CRF = 19;

/** The bit rate that fast H.264 needs for the same quality, relative to the codec of the source. */
const BIT_RATE_FACTORS: Readonly<Record<string, number>> = { hevc: 2, vp9: 2, av1: 2.5 };
const DEFAULT_BIT_RATE_FACTOR = 1.5;
/** Always available, however few bits the source used, because the text of the bars adds detail. */
const MIN_BITS_PER_PIXEL = 0.04;
const MIN_BITS_PER_SECOND = 200_000;
const BUFFER_SECONDS = 1;
const KEYFRAME_INTERVAL = 250;

export function encoderSettings(canvas: Size, frameRate: number, source: SourceRate): EncoderSettings {
  const rate = Math.max(frameRate, 1);
  const minimum = Math.max(MIN_BITS_PER_SECOND, canvas.width * canvas.height * rate * MIN_BITS_PER_PIXEL);
  const factor = BIT_RATE_FACTORS[source.codec] ?? DEFAULT_BIT_RATE_FACTOR;
  const maxRate = Math.round(Math.max(minimum, source.bitRate * factor));
  return {
    preset: PRESET,
    crf: CRF,
    maxRate,
    bufferSize: Math.round(maxRate * BUFFER_SECONDS),
    keyframeInterval: KEYFRAME_INTERVAL,
  };
}
