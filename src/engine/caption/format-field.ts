// The `format`, `quality` and `color_space` of a request: what kind of file the client wants back. Which formats are possible depends on
// what the captions are drawn on.

import { type FieldFault, invalidFields } from '../../shared/errors.ts';
import { orList } from '../../shared/or-list.ts';
import type { Fit } from './fit.ts';
import {
  type ColorSpace,
  defaultFormat,
  type FormatOf,
  FORMATS_OF,
  isFormatOf,
  hasByteLimit,
  type OutputFormat,
  type OutputSource,
} from './output-format.ts';

/** The output that the client requested. Without a format, the default of the source applies. */
export interface RequestedOutput {
  readonly format?: OutputFormat;
  readonly quality?: number;
  /** The color space of a JPEG that stays a JPEG. Default: `source`. */
  readonly colorSpace?: ColorSpace;
  /** The most bytes of the file. The quality follows from it. */
  readonly maxBytes?: number;
  /** The time of the frame that becomes the file, in seconds from the first frame of a video. */
  readonly at?: number;
  /** Set for a transparent video of the captions, without an asset. */
  readonly clip?: CaptionClip;
  /** The size of the file, and how the asset gets it. Without it, the file has the size of the asset. */
  readonly fit?: Fit;
}

/** The length and the frame rate of a transparent video. */
export interface CaptionClip {
  readonly seconds: number;
  readonly fps: number;
}

interface FileChoice {
  readonly format?: OutputFormat | undefined;
  readonly at?: number | undefined;
  readonly maxBytes?: number | undefined;
}

const SOURCE_NAMES: Readonly<Record<OutputSource, string>> = {
  canvas: 'a request without an asset',
  image: 'an image',
  animation: 'an animation',
  video: 'a video',
  frame: 'a cover',
  clip: 'a transparent video',
};

const AT_NEEDS_VIDEO: FieldFault = {
  pointer: '#/at',
  code: 'conflict',
  detail: 'At needs a video. Send one in asset or asset_url, or leave out at.',
};

/** Returns what is wrong with the file. `source` is undefined while it isn't known; then `assertFormatFits` checks it later. */
export function outputFaults({ format, at, maxBytes }: FileChoice, source: OutputSource | undefined): FieldFault[] {
  const drawnOn = source && drawnOnFor(source, at);
  const sizeFault = maxBytes === undefined ? undefined : maxBytesFault(format, drawnOn);
  return [
    ...(source && drawnOn === undefined ? [AT_NEEDS_VIDEO] : []),
    ...(format && drawnOn && !isFormatOf(drawnOn, format) ? [formatFault(format, drawnOn)] : []),
    ...(sizeFault ? [sizeFault] : []),
  ];
}

export function assertFormatFits(output: RequestedOutput, source: OutputSource): void {
  const faults = outputFaults(output, source);
  if (faults.length > 0) throw invalidFields(faults);
}

/** `drawnOn` is undefined while it isn't known yet. */
function maxBytesFault(format: OutputFormat | undefined, drawnOn: OutputSource | undefined): FieldFault | undefined {
  const file = format ?? (drawnOn && defaultFormat(drawnOn));
  if (file === undefined || hasByteLimit(file, drawnOn)) return undefined;
  const detail = `Max_bytes is for jpeg, mp4, and webp with an asset; the file would be a lossless ${file}. Set format, or leave out max_bytes.`;
  return { pointer: '#/max_bytes', code: 'conflict', detail };
}

/** With `at`, captions are drawn on a frame. Returns undefined for a source without frames. */
function drawnOnFor(source: OutputSource, at: number | undefined): OutputSource | undefined {
  if (at === undefined) return source;
  return source === 'video' || source === 'animation' ? 'frame' : undefined;
}

/** Returns the format of the file. */
export function formatFor<Source extends OutputSource>(source: Source, { format }: RequestedOutput): FormatOf<Source> {
  if (format === undefined) return defaultFormat(source);
  if (isFormatOf(source, format)) return format;
  throw invalidFields([formatFault(format, source)]);
}

function formatFault(format: OutputFormat, source: OutputSource): FieldFault {
  const detail = `Format must be ${orList(FORMATS_OF[source])} for ${SOURCE_NAMES[source]}; got ${format}.`;
  return { pointer: '#/format', code: 'invalid_format', detail };
}
