// The form fields of `POST /v1/overlay` as JSON Schema, with the limits that the server enforces.

import { DEFAULT_PLANS } from '../../account/plans.ts';
import { MAX_LANGUAGE_LENGTH } from '../../caption/language.ts';
import {
  MAX_CANVAS_PIXELS,
  MAX_OVERLAYS,
  MAX_SIDE,
  MAX_TEXT_BYTES,
  MAX_TEXT_GRAPHEMES,
  MIN_SIDE,
} from '../../caption/overlay.ts';

export type Json = string | number | boolean | null | readonly Json[] | { readonly [name: string]: Json };

const LIMITS = DEFAULT_PLANS.get('free').limits;
const NUMBER = new Intl.NumberFormat('en');
const megas = (value: number): string => String(value / 1_000_000);

/** Every field, in the order the reference lists them. */
export const FIELDS = {
  asset: {
    contentMediaType: 'application/octet-stream',
    description:
      `Image (JPEG, PNG or WebP, up to ${megas(LIMITS.imageBytes)} MB and ${megas(LIMITS.imagePixels)} megapixels) or ` +
      `video (MP4, MOV, WebM or Matroska, up to ${megas(LIMITS.videoBytes)} MB, ${LIMITS.videoSeconds} seconds, ` +
      `${LIMITS.videoSide} pixels per side and ${LIMITS.videoFps} frames per second; faster videos lose frames). The format is detected from the ` +
      "file's bytes; its name and declared type are ignored. Leave it out to get an overlay-only PNG.",
  },
  width: side('Width'),
  height: side('Height'),
  text: {
    type: 'string',
    maxLength: MAX_TEXT_BYTES,
    description:
      `One caption, at position 50. Up to ${MAX_TEXT_GRAPHEMES} characters (grapheme clusters) and ` +
      `${NUMBER.format(MAX_TEXT_BYTES)} bytes of UTF-8. Line breaks are kept.`,
  },
  overlays: {
    type: 'array',
    minItems: 1,
    maxItems: MAX_OVERLAYS,
    items: { $ref: '#/components/schemas/Overlay' },
    description: `JSON array of 1 to ${MAX_OVERLAYS} captions with positions. Use it instead of \`text\`.`,
  },
  lang: {
    type: 'string',
    maxLength: MAX_LANGUAGE_LENGTH,
    description:
      'Language of the captions as a BCP 47 tag, such as `ja` or `zh-Hant`. It selects the forms of Han characters and of ' +
      'other letters that differ between languages where the text alone is ambiguous. An overlay can have its own.',
  },
} as const;

export const FORM_SCHEMA: Json = {
  type: 'object',
  properties: FIELDS,
  additionalProperties: false,
  oneOf: [{ required: ['text'] }, { required: ['overlays'] }],
  anyOf: [{ required: ['asset'] }, { required: ['width', 'height'] }],
};

export const FORM_ENCODING: Json = {
  asset: { contentType: 'image/jpeg, image/png, image/webp, video/mp4, video/quicktime, video/webm, video/x-matroska' },
  overlays: { contentType: 'application/json' },
};

export const OVERLAY_SCHEMA: Json = {
  type: 'object',
  required: ['text'],
  properties: {
    text: {
      type: 'string',
      maxLength: MAX_TEXT_BYTES,
      description: `Up to ${MAX_TEXT_GRAPHEMES} characters (grapheme clusters).`,
    },
    position: {
      type: ['number', 'null'],
      minimum: 0,
      maximum: 100,
      description:
        'Vertical center of the bar, in percent of the height: 0 touches the top edge, 100 the bottom edge. If omitted ' +
        'or null, the default depends on the order of the overlays.',
    },
    lang: {
      type: ['string', 'null'],
      maxLength: MAX_LANGUAGE_LENGTH,
      description: 'Language of this caption as a BCP 47 tag. If omitted or null, that of the request.',
    },
  },
};

function side(label: 'Width' | 'Height') {
  return {
    type: 'integer',
    minimum: MIN_SIDE,
    maximum: MAX_SIDE,
    description:
      `${label} of the overlay in pixels, ${MIN_SIDE} to ${MAX_SIDE}. Width times height can be at most ` +
      `${megas(MAX_CANVAS_PIXELS)} megapixels. Required without \`asset\`, ignored with it.`,
  } as const;
}
