// Turns the form fields of a request into captions and a canvas size, or reports every invalid field together. Multipart
// parsing and the asset itself are handled by the HTTP layer.

import { AppError, type FieldFault } from '../errors.ts';
import { cleanText, isBlank } from './clean.ts';
import { parseLanguage, withLanguage } from './language.ts';
import { type Overlay, MAX_CANVAS_PIXELS, MAX_SIDE, MIN_SIDE } from './overlay.ts';
import { parseOverlays, textFaults } from './overlays-field.ts';

export interface FormField {
  readonly name: string;
  readonly value: string;
}

export interface Form {
  readonly fields: readonly FormField[];
  readonly hasAsset: boolean;
  /** Errors found while the fields were being read. */
  readonly faults: readonly FieldFault[];
}

export interface CaptionForm {
  readonly overlays: readonly Overlay[];
  /** Size of the transparent overlay; undefined when there is an asset, which sets the size itself. */
  readonly canvas: { readonly width: number; readonly height: number } | undefined;
}

const FIELD_NAMES = ['text', 'overlays', 'lang', 'width', 'height'] as const;
type FieldName = (typeof FIELD_NAMES)[number];

const NUMBER = new Intl.NumberFormat('en');
/** How much of a value sent by the client an error message repeats. */
const MAX_QUOTED_LENGTH = 32;

export function parseForm(form: Form): CaptionForm {
  const faults: FieldFault[] = [...form.faults];
  const values = collectFields(form.fields, faults);
  const unreadable = new Set(form.faults.map((fault) => fault.pointer));
  const overlays = parseCaptions(values, unreadable, faults);
  const lang = parseLanguage(values.get('lang'), '#/lang', faults);
  const canvas = form.hasAsset ? undefined : parseCanvas(values, unreadable, faults);
  if (faults.length > 0) {
    const [first] = faults;
    const summary = faults.length === 1 && first ? first.detail : `The request has ${faults.length} errors.`;
    throw new AppError('invalid_fields', summary, { faults });
  }
  return { overlays: withLanguage(overlays, lang), canvas };
}

function collectFields(fields: readonly FormField[], faults: FieldFault[]): Map<FieldName, string> {
  const values = new Map<FieldName, string>();
  for (const { name, value } of fields) {
    const known = FIELD_NAMES.find((fieldName) => fieldName === name);
    if (known === undefined) {
      const detail = `Unknown field ${quoteValue(name)}. Valid fields are asset, ${FIELD_NAMES.join(', ')}.`;
      faults.push({ pointer: pointerTo(name), code: 'unknown_field', detail });
    } else if (values.has(known)) {
      faults.push({ pointer: `#/${known}`, code: 'duplicate', detail: `Field ${known} was sent more than once.` });
    } else {
      values.set(known, value);
    }
  }
  return values;
}

/** JSON pointer as a URI fragment (RFC 6901). The name is truncated because the client chooses it. */
export function pointerTo(name: string): string {
  const escaped = name.toWellFormed().slice(0, 64).toWellFormed().replaceAll('~', '~0').replaceAll('/', '~1');
  return `#/${encodeURIComponent(escaped)}`;
}

/** A blank field counts as absent, so a browser form with an empty input works. */
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
      detail: sentBlank
        ? "Caption can't be empty."
        : 'A caption is required. Send one in text, or several in overlays.',
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
    const actual = `${NUMBER.format(width * height)} (${width}x${height})`;
    const detail = `Width times height must be at most ${NUMBER.format(MAX_CANVAS_PIXELS)} pixels; got ${actual}.`;
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
  const label = name === 'width' ? 'Width' : 'Height';
  const value = values.get(name)?.trim() ?? '';
  if (unreadable.has(pointer)) return undefined;
  if (value === '') {
    faults.push({ pointer, code: 'required', detail: `${label} in pixels is required when no asset is sent.` });
    return undefined;
  }
  if (!/^[+-]?\d+$/u.test(value)) {
    const detail = `${label} must be a whole number of pixels; got ${quoteValue(value)}.`;
    faults.push({ pointer, code: 'not_an_integer', detail });
    return undefined;
  }
  const side = Number(value);
  if (side < MIN_SIDE || side > MAX_SIDE) {
    const detail = `${label} must be between ${MIN_SIDE} and ${MAX_SIDE} pixels; got ${shorten(value)}.`;
    faults.push({ pointer, code: 'out_of_range', detail });
    return undefined;
  }
  return side;
}

function quoteValue(value: string): string {
  return `"${shorten(value)}"`;
}

function shorten(value: string): string {
  return value.length <= MAX_QUOTED_LENGTH ? value : `${value.slice(0, MAX_QUOTED_LENGTH).toWellFormed()}...`;
}
