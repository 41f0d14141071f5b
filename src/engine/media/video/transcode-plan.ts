// The input and result of a transcode.

import type { Fit } from '../../caption/fit.ts';
import type { Size } from '../../layout/geometry.ts';
import type { AudioSource, VideoSource } from '../probe-schema.ts';
import type { VideoFormat } from '../sniff.ts';
import type { EncoderSettings } from './frames/encoding.ts';
import type { FilterStep } from './frames/steps.ts';

/** Every decision about a transcode, made in advance. Plain JSON. */
export interface TranscodePlan {
  readonly format: VideoFormat;
  readonly canvas: Size;
  readonly video: VideoSource;
  readonly audio: AudioSource | null;
  /** The frame rate of the output. */
  readonly frameRate: number;
  /** One of this many frames is kept, because the frame rate of the source is over the limit. */
  readonly frameStep: number;
  /** Seconds to subtract from every timestamp, because a file can start at any time. */
  readonly offset: number;
  readonly steps: readonly FilterStep[];
  /** Set if the output has another size than the source. The steps contain it. */
  readonly fit?: Fit;
  readonly encoder: EncoderSettings;
  /** Limits from the probe. A file that turns out to contain more is rejected. */
  readonly bounds: { readonly frames: number; readonly bytes: number; readonly pixels: number };
}

interface TranscodeProgress {
  readonly frames: number;
  readonly totalFrames: number;
}

export interface TranscodeOptions {
  readonly signal?: AbortSignal | undefined;
  readonly onProgress?: ((progress: TranscodeProgress) => void) | undefined;
}

export interface TranscodeFacts {
  readonly frames: number;
  readonly durationSeconds: number;
  /** The bytes of the video track. */
  readonly videoBytes: number;
  /** The average quantizer of its frames. */
  readonly quantizer: number;
}
