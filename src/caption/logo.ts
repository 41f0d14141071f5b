// The `logo` of a style: an image of the account in a corner of the result.

import type { FieldFault } from '../errors.ts';
import type { Json } from '../primitives/json-schema.ts';
import { capitalize, pointerTo, quoteJson, typeName } from './quote.ts';

export const LOGO_CORNERS = ['top-left', 'top-right', 'bottom-left', 'bottom-right'] as const;
export type LogoCorner = (typeof LOGO_CORNERS)[number];

const LOGO_ID_PATTERN = '^logo_[0-9a-f]{32}$';

/** What can be uploaded as a logo. */
export const LOGO_FORMATS = ['png', 'webp', 'jpeg'] as const;
export const MAX_LOGO_BYTES = 2_000_000;
export const MAX_LOGO_PIXELS = 4_000_000;
/** The limit of a stored one, which is part of messages between processes. */
export const MAX_LOGO_PNG_BYTES = 1_000_000;

const PROPERTIES = {
  id: { type: 'string', pattern: LOGO_ID_PATTERN },
  corner: { type: 'string', enum: LOGO_CORNERS },
  width: { type: 'number', minimum: 2, maximum: 50 },
  margin: { type: 'number', minimum: 0, maximum: 20 },
  opacity: { type: 'number', minimum: 0.1, maximum: 1 },
} as const satisfies Readonly<Record<string, Json>>;

export const DEFAULT_CORNER = 'top-right';
/** What a logo has that names only its id. */
const DEFAULTS = { corner: DEFAULT_CORNER, width: 15, margin: 4, opacity: 1 } as const;

export const LOGO_FIELD = {
  type: 'object',
  properties: PROPERTIES,
  required: ['id'],
  additionalProperties: false,
  description:
    'A logo that your account uploaded, only in the `style` of a request: `{"id", "corner", "width", "margin", "opacity"}`. `width` and ' +
    `\`margin\` are percent of the width of the result. Default: \`${DEFAULTS.corner}\`, ${DEFAULTS.width}, ${DEFAULTS.margin} and ` +
    `${DEFAULTS.opacity}. It stays inside the safe area and moves along its edge where captions are, with the warning \`logo_moved\`.`,
} as const satisfies Json;

export interface RequestedLogo {
  readonly id: string;
  readonly corner: LogoCorner;
  /** In percent of the width of the result, like `margin`. */
  readonly width: number;
  readonly margin: number;
  readonly opacity: number;
}

/** Returns undefined for an omitted logo, and for an invalid one, which is reported. */
export function checkLogo(value: unknown, pointer: string, faults: FieldFault[]): RequestedLogo | undefined {
  if (value === undefined || value === null) return undefined;
  if (typeof value !== 'object' || Array.isArray(value)) {
    const detail = `Logo must be an object such as {"id": "logo_..."}; got ${typeName(value)}.`;
    faults.push({ pointer, code: 'wrong_type', detail });
    return undefined;
  }
  const before = faults.length;
  for (const key of Object.keys(value)) {
    if (Object.hasOwn(PROPERTIES, key)) continue;
    const detail = `Unknown key ${quoteJson(key)} in logo. Valid keys are ${Object.keys(PROPERTIES).join(', ')}.`;
    faults.push({ pointer: `${pointer}${pointerTo(key).slice(1)}`, code: 'unknown_field', detail });
  }
  const fields = value as Readonly<Record<string, unknown>>;
  const number = (key: 'width' | 'margin' | 'opacity'): number =>
    readNumber(fields[key] ?? DEFAULTS[key], key, `${pointer}/${key}`, faults);
  const logo = {
    id: readId(fields['id'] ?? undefined, `${pointer}/id`, faults),
    corner: readCorner(fields['corner'] ?? DEFAULTS.corner, `${pointer}/corner`, faults),
    width: number('width'),
    margin: number('margin'),
    opacity: number('opacity'),
  };
  return faults.length > before ? undefined : logo;
}

function readId(value: unknown, pointer: string, faults: FieldFault[]): string {
  if (typeof value === 'string') {
    if (!isLogoId(value)) faults.push(unknownLogo(value, pointer));
    return value;
  }
  const isMissing = value === undefined;
  const got = isMissing ? '' : `; got ${typeName(value)}`;
  const detail = `A logo needs the id that POST /v1/logos returned${got}.`;
  faults.push({ pointer, code: isMissing ? 'required' : 'wrong_type', detail });
  return '';
}

function readCorner(value: unknown, pointer: string, faults: FieldFault[]): LogoCorner {
  const known = LOGO_CORNERS.find((name) => name === value);
  if (known !== undefined) return known;
  const detail = `Corner must be one of ${LOGO_CORNERS.join(', ')}; got ${typeof value === 'string' ? quoteJson(value) : typeName(value)}.`;
  faults.push({ pointer, code: 'invalid_choice', detail });
  return DEFAULTS.corner;
}

function readNumber(
  value: unknown,
  key: 'width' | 'margin' | 'opacity',
  pointer: string,
  faults: FieldFault[],
): number {
  const { minimum, maximum } = PROPERTIES[key];
  if (typeof value === 'number' && value >= minimum && value <= maximum) return value;
  const isNumber = typeof value === 'number';
  const got = isNumber ? value : typeName(value);
  const detail = `${capitalize(key)} of a logo must be a number between ${minimum} and ${maximum}; got ${got}.`;
  faults.push({ pointer, code: isNumber ? 'out_of_range' : 'wrong_type', detail });
  return DEFAULTS[key];
}

export function isLogoId(text: string): boolean {
  return new RegExp(LOGO_ID_PATTERN, 'u').test(text);
}

export function unknownLogo(id: string, pointer: string): FieldFault {
  const detail = `Logo ${quoteJson(id)} does not exist in your account. GET /v1/logos lists your logos.`;
  return { pointer, code: 'unknown_logo', detail };
}
