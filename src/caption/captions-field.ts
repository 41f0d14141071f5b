// The `captions` field: subtitles whose cues become bars.

import type { FieldFault } from '../errors.ts';
import { AppError } from '../errors.ts';
import { cleanText, isBlank } from './clean.ts';
import type { FieldReader } from './field-reader.ts';
import { MAX_CAPTIONS_BYTES, MAX_CUES, MAX_OVERLAYS, type Overlay } from './overlay.ts';
import { textFaults } from './overlays-field.ts';
import { parseSubtitles } from './subtitles.ts';

const POINTER = '#/captions';
const NEEDS_VIDEO: FieldFault = {
  pointer: POINTER,
  code: 'conflict',
  detail: 'Captions need a video. Send text or overlays instead, or a video in asset or asset_url.',
};

/** A blank field counts as absent. */
export function hasCaptions(fields: FieldReader): boolean {
  const [captions] = fields.all('captions');
  return typeof captions === 'string' && captions.trim() !== '';
}

/** Cues without visible text show nothing in players either, so they are left out. */
export function parseCues(source: string, position: number | undefined, faults: FieldFault[]): Overlay[] {
  const bytes = Buffer.byteLength(source);
  if (bytes > MAX_CAPTIONS_BYTES) {
    const detail = `The field is ${bytes} bytes long; the limit is ${MAX_CAPTIONS_BYTES}.`;
    faults.push({ pointer: POINTER, code: 'too_large', detail });
    return [];
  }
  const cues = parseSubtitles(source);
  if (cues.length > MAX_CUES) {
    const detail = `Captions can have at most ${MAX_CUES} cues; got ${cues.length}.`;
    faults.push({ pointer: POINTER, code: 'invalid_captions', detail });
  }
  const faultsBefore = faults.length;
  const overlays = cues.slice(0, MAX_CUES).flatMap((cue, index): Overlay[] => {
    const report = (detail: string): void => {
      faults.push({ pointer: `${POINTER}/${index}`, code: 'invalid_captions', detail: `Line ${cue.line}: ${detail}` });
    };
    if ('problem' in cue) {
      report(`${cue.problem}.`);
      return [];
    }
    const { start, end } = cue;
    const text = cleanText(cue.text);
    if (isBlank(text)) return [];
    for (const { detail } of textFaults(text, POINTER)) report(detail);
    return [{ text, position: position ?? null, start, end, isCue: true }];
  });
  if (mostAtOnce(overlays) > MAX_OVERLAYS) {
    const detail = `At most ${MAX_OVERLAYS} cues can be shown at the same time.`;
    faults.push({ pointer: POINTER, code: 'invalid_captions', detail });
  }
  if (overlays.length === 0 && faults.length === faultsBefore) {
    const detail = 'Captions have no cue with text. Send the content of an SRT or WebVTT file.';
    faults.push({ pointer: POINTER, code: 'invalid_captions', detail });
  }
  return overlays;
}

function mostAtOnce(cues: readonly Overlay[]): number {
  const shownWith = (cue: Overlay): number =>
    cues.filter(({ start = 0, end = Number.POSITIVE_INFINITY }) => start <= (cue.start ?? 0) && (cue.start ?? 0) < end)
      .length;
  return Math.max(0, ...cues.map(shownWith));
}

export function reportMissingVideo(faults: FieldFault[]): void {
  faults.push(NEEDS_VIDEO);
}

/** Rejects cues for an asset that turns out to be an image. */
export function assertNoCues(overlays: readonly Overlay[]): void {
  if (!overlays.some(({ isCue }) => isCue)) return;
  throw new AppError('invalid_fields', NEEDS_VIDEO.detail, { faults: [NEEDS_VIDEO] });
}
