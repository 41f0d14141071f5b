// The `format`, `quality` and `color_space` of a request: what kind of file the client wants back. Which formats are possible depends on
// what the captions are drawn on.

import { AppError, type FieldFault } from '../errors.ts';
import { orList } from '../primitives/or-list.ts';
import { choice } from './style-field.ts';
import type { CaptionClip } from './clip-field.ts';
import type { FieldReader } from './field-reader.ts';
import type { Fit } from './fit.ts';
import {
  COLOR_SPACES,
  type ColorSpace,
  defaultFormat,
  FORMAT_NAMES,
  type FormatOf,
  FORMATS_OF,
  isFormatOf,
  isLossy,
  type OutputFormat,
  type OutputSource,
  WRITTEN_FORMATS,
} from './output-format.ts';
import { FILE_FIELDS } from './request-fields.ts';

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

const MAX_QUALITY = FILE_FIELDS.quality.maximum;

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

/** `source` is undefined while it isn't known yet. Then `assertFormatFits` checks the format later. */
export function parseOutput(fields: FieldReader, source: OutputSource | undefined): RequestedOutput {
  const format = parseFormat(fields);
  const quality = parseQuality(fields);
  const colorSpace = parseColorSpace(fields);
  const at = fields.seconds('at', FILE_FIELDS.at.maximum, 'from 0');
  const maxBytes = parseMaxBytes(fields);
  const drawnOn = source && drawnOnFor(source, at);
  if (source && drawnOn === undefined) fields.faults.push(AT_NEEDS_VIDEO);
  if (format && drawnOn && !isFormatOf(drawnOn, format)) fields.faults.push(formatFault(format, drawnOn));
  const sizeFault = maxBytes === undefined ? undefined : maxBytesFault(format, drawnOn);
  if (sizeFault) fields.faults.push(sizeFault);
  if (maxBytes !== undefined && quality !== undefined) {
    fields.add('max_bytes', 'conflict', 'Send either max_bytes or quality, not both.');
  }
  return present({ format, quality, colorSpace, at, maxBytes });
}

/** `drawnOn` is undefined while it isn't known yet. */
function maxBytesFault(format: OutputFormat | undefined, drawnOn: OutputSource | undefined): FieldFault | undefined {
  const file = format ?? (drawnOn && defaultFormat(drawnOn));
  if (file === undefined || (drawnOn !== 'canvas' && drawnOn !== 'clip' && (file === 'mp4' || isLossy(file))))
    return undefined;
  const detail = `Max_bytes is for jpeg, mp4, and webp with an asset; the file would be a lossless ${file}. Set format, or leave out max_bytes.`;
  return { pointer: '#/max_bytes', code: 'conflict', detail };
}

export function assertFormatFits({ format, at, maxBytes }: RequestedOutput, source: OutputSource): void {
  const drawnOn = drawnOnFor(source, at);
  if (drawnOn === undefined) throw refusal(AT_NEEDS_VIDEO);
  if (format !== undefined && !isFormatOf(drawnOn, format)) throw refusal(formatFault(format, drawnOn));
  const sizeFault = maxBytes === undefined ? undefined : maxBytesFault(format, drawnOn);
  if (sizeFault) throw refusal(sizeFault);
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
  throw refusal(formatFault(format, source));
}

/** For values that don't come from a form. */
export function checkOutput(
  { format, quality, colorSpace, maxBytes }: RequestedOutput,
  source: OutputSource,
): RequestedOutput {
  if (format !== undefined || maxBytes !== undefined) {
    assertFormatFits({ ...(format && { format }), ...(maxBytes !== undefined && { maxBytes }) }, source);
  }
  if (quality !== undefined && !(Number.isInteger(quality) && quality >= 1 && quality <= MAX_QUALITY)) {
    const detail = `Quality must be a whole number between 1 and ${MAX_QUALITY}; got ${quality}.`;
    throw refusal({ pointer: '#/quality', code: 'out_of_range', detail });
  }
  const faults: FieldFault[] = [];
  choice(colorSpace, COLOR_SPACES, 'Color_space', '#/color_space', faults);
  for (const fault of faults) throw refusal(fault);
  return present({ format, quality, colorSpace, at: undefined, maxBytes });
}

type FileOutput = Omit<RequestedOutput, 'fit' | 'clip'>;
type Given<Values> = { readonly [Name in keyof Values]: Values[Name] | undefined };

function present({ format, quality, colorSpace, at, maxBytes }: Given<Required<FileOutput>>): FileOutput {
  return {
    ...(format !== undefined && { format }),
    ...(quality !== undefined && { quality }),
    ...(colorSpace !== undefined && { colorSpace }),
    ...(at !== undefined && { at }),
    ...(maxBytes !== undefined && { maxBytes }),
  };
}

/** A blank value counts as absent, so a browser form with an empty input works. */
function parseFormat(fields: FieldReader): OutputFormat | undefined {
  const name = fields.text('format')?.trim() ?? '';
  if (name === '') return undefined;
  const format = WRITTEN_FORMATS.get(name);
  if (format !== undefined) return format;
  const detail = `Format must be ${orList(FORMAT_NAMES)}; got "${fields.shown('format')}".`;
  fields.add('format', 'invalid_format', detail);
  return undefined;
}

function parseQuality(fields: FieldReader): number | undefined {
  const quality = fields.integer('quality');
  if (quality === undefined || (quality >= 1 && quality <= MAX_QUALITY)) return quality;
  const detail = `Quality must be between 1 and ${MAX_QUALITY}; got ${fields.shown('quality')}.`;
  fields.add('quality', 'out_of_range', detail);
  return undefined;
}

function parseMaxBytes(fields: FieldReader): number | undefined {
  const { minimum, maximum } = FILE_FIELDS.max_bytes;
  const bytes = fields.integer('max_bytes', 'bytes');
  if (bytes === undefined || (bytes >= minimum && bytes <= maximum)) return bytes;
  const detail = `Max_bytes must be between ${minimum} and ${maximum}; got ${fields.shown('max_bytes')}.`;
  fields.add('max_bytes', 'out_of_range', detail);
  return undefined;
}

/** A blank value counts as absent, as for the format. */
function parseColorSpace(fields: FieldReader): ColorSpace | undefined {
  const [value] = fields.all('color_space');
  const trimmed = typeof value === 'string' ? value.trim() : value;
  if (trimmed === '') return undefined;
  return choice(trimmed, COLOR_SPACES, 'Color_space', '#/color_space', fields.faults);
}

function formatFault(format: OutputFormat, source: OutputSource): FieldFault {
  const detail = `Format must be ${orList(FORMATS_OF[source])} for ${SOURCE_NAMES[source]}; got ${format}.`;
  return { pointer: '#/format', code: 'invalid_format', detail };
}

function refusal(fault: FieldFault): AppError {
  return new AppError('invalid_fields', fault.detail, { faults: [fault] });
}
