// The `overlays` field: a JSON array of captions with optional positions.

import type { FieldFault } from '../errors.ts';
import { cleanText, isBlank } from './clean.ts';
import { countGraphemes } from './graphemes.ts';
import { MAX_OVERLAYS, MAX_TEXT_BYTES, MAX_TEXT_GRAPHEMES, type Overlay } from './overlay.ts';

export function parseOverlays(json: string, faults: FieldFault[]): Overlay[] {
  const pointer = '#/overlays';
  let items: unknown;
  try {
    items = JSON.parse(json);
  } catch (error) {
    const reason = error instanceof SyntaxError ? 'it is not valid JSON' : String(error);
    faults.push({ pointer, code: 'invalid_json', detail: `overlays must be a JSON array, but ${reason}.` });
    return [];
  }
  return checkOverlays(items, faults);
}

/** The same rules for captions that never were JSON. */
export function checkOverlays(items: unknown, faults: FieldFault[]): Overlay[] {
  const pointer = '#/overlays';
  if (!Array.isArray(items)) {
    faults.push({ pointer, code: 'wrong_type', detail: 'overlays must be an array of objects.' });
    return [];
  }
  if (items.length === 0) {
    faults.push({ pointer, code: 'required', detail: `overlays must hold 1 to ${MAX_OVERLAYS} captions.` });
  }
  if (items.length > MAX_OVERLAYS) {
    const detail = `overlays holds ${items.length} captions; the limit is ${MAX_OVERLAYS}.`;
    faults.push({ pointer, code: 'too_many', detail });
  }
  return items.slice(0, MAX_OVERLAYS).map((item: unknown, index) => parseOverlay(item, `${pointer}/${index}`, faults));
}

function parseOverlay(item: unknown, pointer: string, faults: FieldFault[]): Overlay {
  if (typeof item !== 'object' || item === null || Array.isArray(item)) {
    faults.push({ pointer, code: 'wrong_type', detail: 'An overlay is an object with text and an optional position.' });
    return { text: '', position: null };
  }
  const text = parseText('text' in item ? item.text : undefined, `${pointer}/text`, faults);
  const position = parsePosition('position' in item ? item.position : undefined, `${pointer}/position`, faults);
  return { text, position };
}

function parseText(value: unknown, pointer: string, faults: FieldFault[]): string {
  if (value === undefined || value === null) {
    faults.push({ pointer, code: 'required', detail: 'Every overlay needs a text.' });
    return '';
  }
  if (typeof value !== 'string') {
    faults.push({ pointer, code: 'wrong_type', detail: 'text must be a string.' });
    return '';
  }
  const text = cleanText(value);
  if (isBlank(text)) faults.push({ pointer, code: 'blank', detail: 'The caption is blank.' });
  else faults.push(...textFaults(text, pointer));
  return text;
}

/** Numeric strings are refused: "5" and "50%" look alike and mean different things to different people. */
function parsePosition(value: unknown, pointer: string, faults: FieldFault[]): number | null {
  if (value === undefined || value === null) return null;
  if (typeof value !== 'number') {
    faults.push({ pointer, code: 'wrong_type', detail: 'position must be a number from 0 to 100.' });
    return null;
  }
  if (!(value >= 0 && value <= 100)) {
    faults.push({ pointer, code: 'out_of_range', detail: `position must be from 0 to 100, not ${value}.` });
    return null;
  }
  return value;
}

export function textFaults(cleaned: string, pointer: string): FieldFault[] {
  const bytes = Buffer.byteLength(cleaned);
  if (bytes > MAX_TEXT_BYTES) {
    const detail = `The caption has ${bytes} bytes in UTF-8; the limit is ${MAX_TEXT_BYTES}.`;
    return [{ pointer, code: 'too_long', detail }];
  }
  const length = countGraphemes(cleaned);
  if (length <= MAX_TEXT_GRAPHEMES) return [];
  const detail = `The caption has ${length} characters; the limit is ${MAX_TEXT_GRAPHEMES}.`;
  return [{ pointer, code: 'too_long', detail }];
}
