// `max_words` and `max_lines`: how captions are split into pages.

import type { FieldReader } from './field-reader.ts';
import { DEFAULT_MAX_LINES, type Paging } from './overlay.ts';
import { capitalize } from './quote.ts';
import { CAPTION_FIELDS } from './request-fields.ts';

/** Undefined where the request has neither. */
export function parsePaging(fields: FieldReader): Paging | undefined {
  const maxWords = parseCount('max_words', fields);
  const maxLines = parseCount('max_lines', fields);
  if (maxWords === undefined && maxLines === undefined) return undefined;
  return { maxLines: maxLines ?? DEFAULT_MAX_LINES, ...(maxWords !== undefined && { maxWords }) };
}

function parseCount(name: 'max_words' | 'max_lines', fields: FieldReader): number | undefined {
  const { minimum, maximum } = CAPTION_FIELDS[name];
  const count = fields.integer(name);
  if (count === undefined || (count >= minimum && count <= maximum)) return count;
  fields.add(
    name,
    'out_of_range',
    `${capitalize(name)} must be from ${minimum} to ${maximum}; got ${fields.shown(name)}.`,
  );
  return undefined;
}
