// The form of a request -> what to render, or every fault at once. Knows names and values only: bytes, multipart and the
// asset itself are somebody else's.

import { AppError, type FieldFault } from '../errors.ts';
import { cleanText, isBlank } from './clean.ts';
import { type Overlay, MAX_CANVAS_PIXELS, MAX_SIDE, MIN_SIDE } from './overlay.ts';
import { parseOverlays, textFaults } from './overlays-field.ts';

export interface FormField {
  readonly name: string;
  readonly value: string;
}

export interface Form {
  readonly fields: readonly FormField[];
  readonly hasAsset: boolean;
  /** What was already wrong with single fields when they were read. */
  readonly faults: readonly FieldFault[];
}

export interface CaptionForm {
  readonly overlays: readonly Overlay[];
  /** The size of the transparent overlay; with an asset, the asset decides. */
  readonly canvas: { readonly width: number; readonly height: number } | undefined;
}

const FIELD_NAMES = ['text', 'overlays', 'width', 'height'] as const;
type FieldName = (typeof FIELD_NAMES)[number];

export function parseForm(form: Form): CaptionForm {
  const faults: FieldFault[] = [...form.faults];
  const values = collectFields(form.fields, faults);
  const unreadable = new Set(form.faults.map((fault) => fault.pointer));
  const overlays = parseCaptions(values, unreadable, faults);
  const canvas = form.hasAsset ? undefined : parseCanvas(values, unreadable, faults);
  if (faults.length > 0) {
    const [first] = faults;
    const summary = faults.length === 1 && first ? first.detail : `${faults.length} faults in the request.`;
    throw new AppError('invalid_fields', summary, { faults });
  }
  return { overlays, canvas };
}

function collectFields(fields: readonly FormField[], faults: FieldFault[]): Map<FieldName, string> {
  const values = new Map<FieldName, string>();
  for (const { name, value } of fields) {
    const known = FIELD_NAMES.find((fieldName) => fieldName === name);
    if (known === undefined) {
      const detail = `There is no field of this name; the fields are asset, ${FIELD_NAMES.join(', ')}.`;
      faults.push({ pointer: pointerTo(name), code: 'unknown_field', detail });
    } else if (values.has(known)) {
      faults.push({ pointer: `#/${known}`, code: 'duplicate', detail: `Send ${known} once.` });
    } else {
      values.set(known, value);
    }
  }
  return values;
}

/** JSON pointer as a URI fragment (RFC 6901), shortened: the name comes from the sender. */
export function pointerTo(name: string): string {
  const escaped = name.toWellFormed().slice(0, 64).toWellFormed().replaceAll('~', '~0').replaceAll('/', '~1');
  return `#/${encodeURIComponent(escaped)}`;
}

/** A blank field counts as absent, so that a form with an empty box works. */
function parseCaptions(
  values: ReadonlyMap<FieldName, string>,
  unreadable: ReadonlySet<string>,
  faults: FieldFault[],
): readonly Overlay[] {
  const text = cleanText(values.get('text') ?? '');
  const overlays = values.get('overlays') ?? '';
  const hasText = !isBlank(text);
  const hasOverlays = overlays.trim() !== '';
  if (hasText && hasOverlays) {
    faults.push({ pointer: '#/overlays', code: 'conflict', detail: 'Send either text or overlays, not both.' });
  }
  if (hasOverlays) {
    const parsed = parseOverlays(overlays, faults);
    if (hasText) faults.push(...textFaults(text, '#/text'));
    return parsed;
  }
  if (hasText) {
    faults.push(...textFaults(text, '#/text'));
    return [{ text, position: null }];
  }
  if (!unreadable.has('#/text') && !unreadable.has('#/overlays')) {
    const sentBlank = values.has('text');
    faults.push({
      pointer: '#/text',
      code: sentBlank ? 'blank' : 'required',
      detail: sentBlank ? 'The caption is blank.' : 'Send the caption in text, or several in overlays.',
    });
  }
  return [];
}

function parseCanvas(
  values: ReadonlyMap<FieldName, string>,
  unreadable: ReadonlySet<string>,
  faults: FieldFault[],
): CaptionForm['canvas'] {
  const width = parseSide('width', values, unreadable, faults);
  const height = parseSide('height', values, unreadable, faults);
  if (width === undefined || height === undefined) return undefined;
  if (width * height > MAX_CANVAS_PIXELS) {
    const detail = `${width}x${height} is ${width * height} pixels; the limit is ${MAX_CANVAS_PIXELS}.`;
    faults.push({ pointer: '#/width', code: 'out_of_range', detail });
  }
  return { width, height };
}

function parseSide(
  name: 'width' | 'height',
  values: ReadonlyMap<FieldName, string>,
  unreadable: ReadonlySet<string>,
  faults: FieldFault[],
): number | undefined {
  const pointer = `#/${name}`;
  const value = values.get(name)?.trim() ?? '';
  if (unreadable.has(pointer)) return undefined;
  if (value === '') {
    faults.push({ pointer, code: 'required', detail: `Without an asset, ${name} (in pixels) is required.` });
    return undefined;
  }
  if (!/^[+-]?\d+$/u.test(value)) {
    faults.push({ pointer, code: 'not_an_integer', detail: `${name} must be a whole number of pixels.` });
    return undefined;
  }
  const side = Number(value);
  if (side < MIN_SIDE || side > MAX_SIDE) {
    faults.push({ pointer, code: 'out_of_range', detail: `${name} must be from ${MIN_SIDE} to ${MAX_SIDE} pixels.` });
    return undefined;
  }
  return side;
}
