// The top-level `position` of the bar of `text` or the bars of `captions`.

import type { FieldReader } from './field-reader.ts';
import { typeName } from './quote.ts';

/** Returns undefined for an absent or blank field, and for an invalid one, which is reported. */
export function parsePositionField(fields: FieldReader, hasOverlays: boolean): number | undefined {
  const [sent] = fields.all('position');
  // Forms have only strings.
  const value: unknown = typeof sent === 'string' && !fields.isJson ? numberOrText(sent.trim()) : sent;
  if (value === undefined || value === '') return undefined;
  if (hasOverlays) {
    const detail = 'Position goes with text or captions. Give each overlay its own position instead.';
    fields.add('position', 'conflict', detail);
  }
  if (typeof value !== 'number') {
    const got = fields.isJson ? typeName(value) : fields.shown('position');
    fields.add('position', 'wrong_type', `Position must be a number between 0 and 100; got ${got}.`);
    return undefined;
  }
  if (value >= 0 && value <= 100) return value;
  fields.add('position', 'out_of_range', `Position must be between 0 and 100; got ${fields.shown('position')}.`);
  return undefined;
}

function numberOrText(text: string): number | string {
  return /^[+-]?\d+(?:\.\d+)?$/u.test(text) ? Number(text) : text;
}
