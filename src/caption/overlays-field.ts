// The `overlays` field: a JSON array of captions with optional positions.

import type { FieldFault } from '../errors.ts';
import { cleanText, isBlank } from './clean.ts';
import { countGraphemes } from './graphemes.ts';
import { parseLanguage } from './language.ts';
import { MAX_OVERLAYS, MAX_TEXT_BYTES, MAX_TEXT_GRAPHEMES, type Overlay } from './overlay.ts';

const NUMBER = new Intl.NumberFormat('en');

export function parseOverlays(json: string, faults: FieldFault[]): Overlay[] {
  let items: unknown;
  try {
    items = JSON.parse(json);
  } catch {
    const detail = 'The overlays field isn\'t valid JSON. Send an array such as [{"text": "Hello"}].';
    faults.push({ pointer: '#/overlays', code: 'invalid_json', detail });
    return [];
  }
  return checkOverlays(items, faults);
}

/** Applies the same rules to captions that don't come from JSON. */
export function checkOverlays(items: unknown, faults: FieldFault[]): Overlay[] {
  const pointer = '#/overlays';
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
  if (typeof item !== 'object' || item === null || Array.isArray(item)) {
    const detail = `An overlay must be an object with text and an optional position; got ${typeName(item)}.`;
    faults.push({ pointer, code: 'wrong_type', detail });
    return { text: '', position: null };
  }
  const text = parseText('text' in item ? item.text : undefined, `${pointer}/text`, faults);
  const position = parsePosition('position' in item ? item.position : undefined, `${pointer}/position`, faults);
  const lang = parseLanguage('lang' in item ? item.lang : undefined, `${pointer}/lang`, faults);
  return lang === undefined ? { text, position } : { text, position, lang };
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

function typeName(value: unknown): string {
  if (value === null) return 'null';
  if (Array.isArray(value)) return 'an array';
  return typeof value === 'object' ? 'an object' : `a ${typeof value}`;
}
