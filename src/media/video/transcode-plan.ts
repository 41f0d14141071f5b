// The input and result of a transcode, of a whole video or of a piece of the work.

import type { Fit } from '../../caption/fit.ts';
import type { Size } from '../../layout/geometry.ts';
import type { VideoFormat } from '../sniff.ts';
import type { EncoderSettings } from './frames/encoding.ts';
import type { FilterStep } from './frames/steps.ts';
import type { VideoSource } from './probe/probe.ts';
import type { AudioSource } from './sound/source.ts';

/** The work of one of several workers that share a video. */
export interface VideoPiece {
  /** The amount of work, in frames of the video. */
  readonly frames: number;
  /**
   * True for the last piece, which puts the others together and draws no bars. After any other piece, more work follows
   * on the same worker.
   */
  readonly isLast: boolean;
  /** Only the code that made the piece reads it. */
  readonly work: unknown;
}

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
  /** An additional file that a piece needs. */
  readonly attachment?: string | undefined;
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
