// What can be wrong with one field, in words. The compiler asks for every code.

import type { FaultCode } from '../../errors.ts';

export const FAULTS = {
  required: 'The field is missing.',
  blank: 'There is nothing to draw: only spaces or invisible characters.',
  too_long: 'The caption has more than 180 characters or 2,000 bytes of UTF-8.',
  too_large: 'The field has more than 64 KiB.',
  too_many: 'More than ten overlays.',
  out_of_range: 'The number is too small or too large.',
  not_an_integer: 'A whole number of pixels is needed.',
  wrong_type: 'A value of another kind is needed. Numeric strings are no numbers.',
  invalid_json: '`overlays` is not JSON.',
  invalid_encoding: 'The field is not UTF-8.',
  conflict: 'Both `text` and `overlays` were sent.',
  duplicate: 'The field was sent twice.',
  unknown_field: 'There is no field of this name.',
} as const satisfies Record<FaultCode, string>;
