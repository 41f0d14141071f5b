// The `format` and `quality` of a request: what kind of file the client wants back. Which formats are possible depends on
// what the captions are drawn on.

import { AppError, type FieldFault } from '../errors.ts';
import type { FieldReader } from './field-reader.ts';

export type OutputFormat = 'png' | 'jpeg' | 'webp' | 'mp4';

/** What the captions are drawn on: an asset of some kind, or a transparent canvas. */
export type OutputSource = 'canvas' | 'image' | 'animation' | 'video';

/** What the client asked for. Without a format, the first one in `FORMATS_OF` applies. */
export interface RequestedOutput {
  readonly format?: OutputFormat;
  readonly quality?: number;
}

export const DEFAULT_QUALITY = 90;
export const MAX_QUALITY = 100;

/** The possible formats by source, the default first. */
export const FORMATS_OF: Readonly<Record<OutputSource, readonly [OutputFormat, ...OutputFormat[]]>> = {
  canvas: ['png', 'webp'],
  image: ['png', 'jpeg', 'webp'],
  animation: ['png', 'jpeg', 'webp', 'mp4'],
  video: ['mp4'],
};

/** What the client may write. */
export const FORMAT_NAMES: Readonly<Record<string, OutputFormat>> = {
  png: 'png',
  jpeg: 'jpeg',
  jpg: 'jpeg',
  webp: 'webp',
  mp4: 'mp4',
};

const SOURCE_NAMES: Readonly<Record<OutputSource, string>> = {
  canvas: 'a request without an asset',
  image: 'an image',
  animation: 'an animation',
  video: 'a video',
};

/** `source` is undefined while it isn't known yet; `assertFormatFits` checks the format later then. */
export function parseOutput(fields: FieldReader, source: OutputSource | undefined): RequestedOutput {
  const format = parseFormat(fields);
  const quality = parseQuality(fields);
  const fault = format && source && formatFault(format, source);
  if (fault) fields.faults.push(fault);
  return { ...(format !== undefined && { format }), ...(quality !== undefined && { quality }) };
}

export function assertFormatFits({ format }: RequestedOutput, source: OutputSource): void {
  const fault = format && formatFault(format, source);
  if (fault) throw new AppError('invalid_fields', fault.detail, { faults: [fault] });
}

/** For values that don't come from a form. */
export function checkOutput({ format, quality }: RequestedOutput, source: OutputSource): RequestedOutput {
  if (format !== undefined) assertFormatFits({ format }, source);
  if (quality !== undefined && !(Number.isInteger(quality) && quality >= 1 && quality <= MAX_QUALITY)) {
    const detail = `Quality must be a whole number between 1 and ${MAX_QUALITY}; got ${quality}.`;
    const fault = { pointer: '#/quality', code: 'out_of_range', detail } as const;
    throw new AppError('invalid_fields', detail, { faults: [fault] });
  }
  return { ...(format !== undefined && { format }), ...(quality !== undefined && { quality }) };
}

/** A blank value counts as absent, so a browser form with an empty input works. */
function parseFormat(fields: FieldReader): OutputFormat | undefined {
  const name = fields.text('format')?.trim() ?? '';
  if (name === '') return undefined;
  if (Object.hasOwn(FORMAT_NAMES, name)) return FORMAT_NAMES[name];
  const detail = `Format must be png, jpeg, webp or mp4; got "${fields.shown('format')}".`;
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

function formatFault(format: OutputFormat, source: OutputSource): FieldFault | undefined {
  const possible = FORMATS_OF[source];
  if (possible.includes(format)) return undefined;
  const detail = `Format must be ${possible.join(', ').replace(/, (?=\w+$)/u, ' or ')} for ${SOURCE_NAMES[source]}; got ${format}.`;
  return { pointer: '#/format', code: 'invalid_format', detail };
}
