// The form of `POST /v1/overlay` as JSON Schema, with the numbers of the caption rules.

import { DEFAULT_PLANS } from '../../account/plans.ts';
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
const megas = (value: number): string => String(value / 1_000_000);

/** Every field, in the order people read them. */
export const FIELDS = {
  asset: {
    contentMediaType: 'application/octet-stream',
    description:
      `An image (JPEG, PNG, WebP; up to ${megas(LIMITS.imageBytes)} MB and ${megas(LIMITS.imagePixels)} megapixels) or a ` +
      `video (MP4, MOV, WebM; up to ${megas(LIMITS.videoBytes)} MB, ${LIMITS.videoSeconds} seconds, ${LIMITS.videoSide} ` +
      `pixels a side, ${LIMITS.videoFps} frames per second). Its bytes decide what it is; name and declared type are ` +
      'ignored. Left out: the bars alone.',
  },
  width: side('width'),
  height: side('height'),
  text: {
    type: 'string',
    maxLength: MAX_TEXT_BYTES,
    description:
      `One caption, at position 50. At most ${MAX_TEXT_GRAPHEMES} characters as people count them and ` +
      `${MAX_TEXT_BYTES} bytes of UTF-8. Line breaks are kept.`,
  },
  overlays: {
    type: 'array',
    minItems: 1,
    maxItems: MAX_OVERLAYS,
    items: { $ref: '#/components/schemas/Overlay' },
    description: `JSON array of 1 to ${MAX_OVERLAYS} captions with positions. Instead of \`text\`.`,
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
  asset: { contentType: 'image/jpeg, image/png, image/webp, video/mp4, video/quicktime, video/webm' },
  overlays: { contentType: 'application/json' },
};

export const OVERLAY_SCHEMA: Json = {
  type: 'object',
  required: ['text'],
  properties: {
    text: { type: 'string', maxLength: MAX_TEXT_BYTES, description: `At most ${MAX_TEXT_GRAPHEMES} characters.` },
    position: {
      type: ['number', 'null'],
      minimum: 0,
      maximum: 100,
      description:
        'Where the centre of the bar is, in percent of the height; 0 touches the top edge, 100 the bottom edge. Without ' +
        'one, the place in the list decides.',
    },
  },
};

function side(name: string) {
  return {
    type: 'integer',
    minimum: MIN_SIDE,
    maximum: MAX_SIDE,
    description:
      `Pixels, ${MIN_SIDE} to ${MAX_SIDE}, at most ${megas(MAX_CANVAS_PIXELS)} megapixels together. Required without ` +
      `\`asset\`; with one, ${name} is ignored.`,
  } as const;
}
