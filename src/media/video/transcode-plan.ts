// Input and result of a transcode, of a whole video or of a piece of the work.

import type { Size } from '../../layout/geometry.ts';
import type { VideoFormat } from '../sniff.ts';
import type { EncoderSettings } from './frames/encoding.ts';
import type { FilterStep } from './frames/steps.ts';
import type { VideoSource } from './probe/probe.ts';
import type { AudioSource } from './sound/source.ts';

/** What one of several workers does for a video that they share. */
export interface VideoPiece {
  /** How much work it is, in frames of the video. */
  readonly frames: number;
  /** The last piece puts the others together, so it draws no bars. After any other, more work follows on the same worker. */
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
  /** Of the output. */
  readonly frameRate: number;
  /** Only one of so many frames is kept, because the frame rate of the source is over the limit. */
  readonly frameStep: number;
  /** Seconds to subtract from every timestamp, because a file can start at any time. */
  readonly offset: number;
  readonly steps: readonly FilterStep[];
  readonly encoder: EncoderSettings;
  /** A file that turns out to contain more than its probe found is rejected. */
  readonly bounds: { readonly frames: number; readonly bytes: number; readonly pixels: number };
}

interface TranscodeProgress {
  readonly frames: number;
  readonly totalFrames: number;
}

export interface TranscodeOptions {
  /** A further file that a piece needs. */
  readonly attachment?: string | undefined;
  readonly signal?: AbortSignal | undefined;
  readonly onProgress?: ((progress: TranscodeProgress) => void) | undefined;
}

export interface TranscodeFacts {
  readonly frames: number;
  readonly durationSeconds: number;
}
