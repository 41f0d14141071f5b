// The `logo` of a style: an image of the account in a corner of the result.

import type { Json } from '../../shared/json-schema.ts';

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

/** A logo as it is sent. Only its id is required. */
export type SentLogo = Pick<RequestedLogo, 'id'> & Partial<RequestedLogo>;

export function withDefaults({ id, ...logo }: SentLogo): RequestedLogo {
  return { id, ...DEFAULTS, ...logo };
}

export function isLogoId(text: string): boolean {
  return new RegExp(LOGO_ID_PATTERN, 'u').test(text);
}
