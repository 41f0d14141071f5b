// `duration` and `fps` without an asset: a transparent video of the captions.

import type { FieldReader } from './field-reader.ts';
import type { OutputFormat } from './output-format.ts';
import { FILE_FIELDS } from './request-fields.ts';

/** The length and the frame rate of a transparent video. */
export interface CaptionClip {
  readonly seconds: number;
  readonly fps: number;
}

const MAX_SHORT_SIDE = 1_920;
const MAX_LONG_SIDE = 4_096;
/** Formats whose files grow with every frame, or that few programs play for long. */
const SHORT_FORMATS: ReadonlySet<OutputFormat> = new Set(['mov', 'apng']);
const MAX_SHORT_SECONDS = 60;

export function parseFps(fields: FieldReader): number | undefined {
  const { minimum, maximum } = FILE_FIELDS.fps;
  const fps = fields.integer('fps');
  if (fps === undefined || (fps >= minimum && fps <= maximum)) return fps;
  fields.add('fps', 'out_of_range', `Fps must be from ${minimum} to ${maximum}; got ${fields.shown('fps')}.`);
  return undefined;
}

/** Reports what is wrong with the size and the length of a transparent video in this format. */
export function checkClip(
  fields: FieldReader,
  { seconds }: CaptionClip,
  canvas: { readonly width: number; readonly height: number } | undefined,
  format: OutputFormat,
): void {
  if (SHORT_FORMATS.has(format) && seconds > MAX_SHORT_SECONDS) {
    const detail = `A transparent video can have up to ${MAX_SHORT_SECONDS} seconds as ${format}; got ${seconds}. Use webm for longer ones.`;
    fields.add('duration', 'out_of_range', detail);
  }
  if (canvas === undefined) return;
  const [short, long] = [Math.min(canvas.width, canvas.height), Math.max(canvas.width, canvas.height)];
  if (short > MAX_SHORT_SIDE || long > MAX_LONG_SIDE) {
    const detail = `A transparent video can have ${MAX_SHORT_SIDE} pixels on the shorter side and ${MAX_LONG_SIDE} on the longer one; got ${canvas.width}x${canvas.height}.`;
    fields.add('width', 'out_of_range', detail);
  }
  if (format !== 'webm') return;
  for (const side of ['width', 'height'] as const) {
    if (canvas[side] % 2 === 0) continue;
    fields.add(side, 'out_of_range', `The sides of a WebM must be even; got ${canvas[side]}.`);
  }
}
