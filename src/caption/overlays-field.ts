// The `overlays` field: captions with optional positions.

import type { FieldFault } from '../errors.ts';
import { cleanText, isBlank } from './clean.ts';
import { typeName } from './quote.ts';
import { countGraphemes } from './graphemes.ts';
import { parseLanguage } from './language.ts';
import { checkStyle } from './style-field.ts';
import { parseTimes } from './timing-field.ts';
import { MAX_OVERLAYS, MAX_TEXT_BYTES, MAX_TEXT_GRAPHEMES, type Overlay } from './overlay.ts';

/** A placeholder for an overlay whose fault has been reported, so that the others are still checked. */
const REPORTED = { text: '-' };

const NUMBER = new Intl.NumberFormat('en');

/**
 * Parses the field as a form sends it: one value with an array or a single object, or several values with one object
 * each, which is how clients generated from the OpenAPI document send an array.
 */
export function parseOverlays(values: readonly string[], faults: FieldFault[]): Overlay[] {
  const [first = '', ...others] = values;
  if (others.length === 0) {
    const detail = 'The overlays field isn\'t valid JSON. Send an array such as [{"text": "Hello"}].';
    const parsed = parseJson(first, { pointer: '#/overlays', code: 'invalid_json', detail }, faults);
    return parsed === undefined ? [] : checkOverlays(parsed, faults);
  }
  const detail = 'This overlay isn\'t valid JSON. Send an object such as {"text": "Hello"}.';
  const items = values.map(
    (value, index) =>
      parseJson(value, { pointer: `#/overlays/${index}`, code: 'invalid_json', detail }, faults) ?? REPORTED,
  );
  return checkOverlays(items, faults);
}

/** Returns undefined after a fault, because JSON has no such value. */
function parseJson(text: string, fault: FieldFault, faults: FieldFault[]): unknown {
  try {
    return JSON.parse(text);
  } catch {
    faults.push(fault);
    return undefined;
  }
}

/** Checks the field as a value: an array, or a single overlay. */
export function checkOverlays(value: unknown, faults: FieldFault[]): Overlay[] {
  const pointer = '#/overlays';
  const items = isObject(value) ? [value] : value;
  if (!Array.isArray(items)) {
    faults.push({ pointer, code: 'wrong_type', detail: `Overlays must be an array; got ${typeName(items)}.` });
    return [];
  }
  if (items.length === 0 || items.length > MAX_OVERLAYS) {
    const detail = `Overlays must contain 1 to ${MAX_OVERLAYS} captions; got ${items.length}.`;
    faults.push({ pointer, code: items.length === 0 ? 'required' : 'too_many', detail });
  }
  return items.slice(0, MAX_OVERLAYS).map((item: unknown, index) => parseOverlay(item, `${pointer}/${index}`, faults));
}

function parseOverlay(item: unknown, pointer: string, faults: FieldFault[]): Overlay {
  if (!isObject(item)) {
    const detail = `An overlay must be an object with text and an optional position; got ${typeName(item)}.`;
    faults.push({ pointer, code: 'wrong_type', detail });
    return { text: '', position: null };
  }
  const text = parseText('text' in item ? item.text : undefined, `${pointer}/text`, faults);
  const position = parsePosition('position' in item ? item.position : undefined, `${pointer}/position`, faults);
  const lang = parseLanguage('lang' in item ? item.lang : undefined, `${pointer}/lang`, faults);
  const style = checkStyle('style' in item ? item.style : undefined, `${pointer}/style`, faults);
  const times = parseTimes(item, pointer, faults);
  return { text, position, ...(lang !== undefined && { lang }), ...(style !== undefined && { style }), ...times };
}

function parseText(value: unknown, pointer: string, faults: FieldFault[]): string {
  if (value === undefined || value === null) {
    faults.push({ pointer, code: 'required', detail: 'Text is required in every overlay.' });
    return '';
  }
  if (typeof value !== 'string') {
    faults.push({ pointer, code: 'wrong_type', detail: `Text must be a string; got ${typeName(value)}.` });
    return '';
  }
  const text = cleanText(value);
  if (isBlank(text)) faults.push({ pointer, code: 'blank', detail: "Caption can't be empty." });
  else faults.push(...textFaults(text, pointer));
  return text;
}

/** Rejects numeric strings, because "5" and "50%" look alike but could mean different things. */
function parsePosition(value: unknown, pointer: string, faults: FieldFault[]): number | null {
  if (value === undefined || value === null) return null;
  if (typeof value !== 'number') {
    const detail = `Position must be a number between 0 and 100; got ${typeName(value)}.`;
    faults.push({ pointer, code: 'wrong_type', detail });
    return null;
  }
  if (!(value >= 0 && value <= 100)) {
    faults.push({ pointer, code: 'out_of_range', detail: `Position must be between 0 and 100; got ${value}.` });
    return null;
  }
  return value;
}

export function textFaults(cleaned: string, pointer: string): FieldFault[] {
  const bytes = Buffer.byteLength(cleaned);
  if (bytes > MAX_TEXT_BYTES) {
    const detail = `Caption is ${NUMBER.format(bytes)} bytes of UTF-8; the limit is ${NUMBER.format(MAX_TEXT_BYTES)}.`;
    return [{ pointer, code: 'too_long', detail }];
  }
  const length = countGraphemes(cleaned);
  if (length <= MAX_TEXT_GRAPHEMES) return [];
  const detail = `Caption is ${NUMBER.format(length)} characters long; the limit is ${MAX_TEXT_GRAPHEMES}.`;
  return [{ pointer, code: 'too_long', detail }];
}

function isObject(value: unknown): value is object {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
