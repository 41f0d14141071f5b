// The top-level `position`: where the bar of `text` or the bars of `captions` go.

import { type FieldReader, typeName } from './field-reader.ts';

/** Undefined for an absent or blank field, and for an invalid one, which is reported. */
export function parsePositionField(fields: FieldReader, hasOverlays: boolean): number | undefined {
  const [value] = fields.all('position');
  if (value === undefined || (typeof value === 'string' && value.trim() === '' && !fields.isJson)) return undefined;
  if (hasOverlays) {
    const detail = 'Position goes with text or captions. Give each overlay its own position instead.';
    fields.add('position', 'conflict', detail);
  }
  // Forms have only strings.
  const isNumber = fields.isJson ? typeof value === 'number' : /^\s*\d+(?:\.\d+)?\s*$/u.test(String(value));
  const position = isNumber ? Number(value) : Number.NaN;
  if (position >= 0 && position <= 100) return position;
  const isNumeric = isNumber || (!fields.isJson && Number.isFinite(Number(value)));
  const got = fields.isJson && !isNumber ? typeName(value) : fields.shown('position');
  fields.add(
    'position',
    isNumeric ? 'out_of_range' : 'wrong_type',
    `Position must be ${isNumeric ? '' : 'a number '}between 0 and 100; got ${got}.`,
  );
  return undefined;
}
