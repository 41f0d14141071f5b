// The fields of `POST /v1/overlay` as JSON Schema, with the limits that the server enforces. Rules between fields are prose,
// because generators turn `oneOf` and `anyOf` into types that are hard to use.

import { DEFAULT_PLANS } from '../../account/plans.ts';
import { MAX_LANGUAGE_LENGTH } from '../../caption/language.ts';
import { DEFAULT_QUALITY, FORMAT_NAMES, MAX_QUALITY } from '../../caption/output-format.ts';
import {
  DEFAULT_CUE_POSITION,
  MAX_CANVAS_PIXELS,
  MAX_CAPTIONS_BYTES,
  MAX_CUES,
  MAX_OVERLAYS,
  MAX_SIDE,
  MAX_TEXT_BYTES,
  MAX_TEXT_GRAPHEMES,
  MIN_SIDE,
} from '../../caption/overlay.ts';
import { OVERLAY_STYLE, SAFE_AREA_FIELD, STYLE_FIELD } from './openapi-style.ts';

export type Json = string | number | boolean | null | readonly Json[] | { readonly [name: string]: Json };

const LIMITS = DEFAULT_PLANS.get('free').limits;
const NUMBER = new Intl.NumberFormat('en');
const megas = (value: number): string => String(value / 1_000_000);

/** Bytes. Without a type, generators that know only JSON types accept a `Blob` here instead of insisting on a string. */
export const BINARY = { format: 'binary', contentMediaType: 'application/octet-stream' } as const;

/** Every field, in the order the reference lists them. */
export const FIELDS = {
  asset: {
    ...BINARY,
    description:
      `Image (JPEG, PNG, WebP, HEIC, AVIF or GIF, up to ${megas(LIMITS.imageBytes)} MB and ${megas(LIMITS.imagePixels)} megapixels) or ` +
      `video (MP4, MOV, WebM or Matroska, up to ${megas(LIMITS.videoBytes)} MB, ${LIMITS.videoSeconds} seconds, ` +
      `${LIMITS.videoSide} pixels per side and ${LIMITS.videoFps} frames per second; faster videos lose frames). The format is detected from the ` +
      "file's bytes; its name and declared type are ignored. Leave it out to get only the overlay, transparent.",
  },
  asset_url: {
    type: 'string',
    format: 'uri',
    maxLength: 2_048,
    description:
      'Public `http` or `https` URL of the file, instead of `asset`. The server fetches it with the same limits as an upload, ' +
      'within 120 seconds and at most 3 redirects. The URL must work without cookies or a password.',
  },
  width: side('Width'),
  height: side('Height'),
  text: {
    type: 'string',
    maxLength: MAX_TEXT_BYTES,
    description:
      `One caption, at position 50 unless \`position\` says otherwise. Up to ${MAX_TEXT_GRAPHEMES} characters (grapheme clusters) and ` +
      `${NUMBER.format(MAX_TEXT_BYTES)} bytes of UTF-8. Line breaks are kept.`,
  },
  overlays: {
    type: 'array',
    minItems: 1,
    maxItems: MAX_OVERLAYS,
    items: { $ref: '#/components/schemas/Overlay' },
    description:
      `Array of 1 to ${MAX_OVERLAYS} captions with positions, or a single one. Use it instead of \`text\`. In forms, send ` +
      'JSON text, or repeat the field with one object each.',
  },
  captions: {
    type: 'string',
    maxLength: MAX_CAPTIONS_BYTES,
    description:
      `Content of an SRT or WebVTT file for a video, instead of \`text\` or \`overlays\`. Up to ${MAX_CAPTIONS_BYTES / 1024} KiB and ` +
      `${MAX_CUES} cues of ${MAX_TEXT_GRAPHEMES} characters. Each cue becomes a bar; tags and cue settings are ignored.`,
  },
  position: {
    type: 'number',
    minimum: 0,
    maximum: 100,
    description:
      'Vertical center of the bar of `text` (default 50), or of the bars of ' +
      `\`captions\` (default ${DEFAULT_CUE_POSITION}), in percent of the height. Not allowed with \`overlays\`.`,
  },
  lang: {
    type: 'string',
    maxLength: MAX_LANGUAGE_LENGTH,
    description:
      'Language of the captions as a BCP 47 tag, such as `ja` or `zh-Hant`. It selects the forms of Han characters and of ' +
      'other letters that differ between languages where the text alone is ambiguous. An overlay can have its own.',
  },
  style: STYLE_FIELD,
  safe_area: SAFE_AREA_FIELD,
  strict: {
    type: 'boolean',
    description:
      'With `true`, warnings about the captions are an error: 422 `strict_warnings`, before anything is rendered or charged. ' +
      'Default: `false`.',
  },
  format: {
    type: 'string',
    enum: Object.keys(FORMAT_NAMES),
    description:
      'Format of the finished file. Images: `png` (default), `jpeg` (or `jpg`) or `webp`. Without an asset: `png` (default) ' +
      'or `webp`, which is lossless then. Videos: `mp4`, which also turns an animated GIF or WebP into a video. ' +
      'A JPEG stays a JPEG without being compressed again unless ' +
      '`quality` is set; see `x-source-pixels`. Transparent images become white in a JPEG.',
  },
  quality: {
    type: 'integer',
    minimum: 1,
    maximum: MAX_QUALITY,
    description:
      `Quality of JPEG and WebP images. Default: ${DEFAULT_QUALITY}. Ignored for other formats and for lossless WebP. ` +
      'JPEGs keep full color resolution from 90 on.',
  },
  async: {
    type: 'boolean',
    description:
      'With `true`, the response is 202 with the render as JSON, and the render runs afterwards. Same as the header ' +
      '`prefer: respond-async`, which a file over the synchronous limits needs. Default: `false`.',
  },
  deliver: {
    type: 'string',
    enum: ['bytes', 'url'],
    description:
      'With `url`, the response is the render as JSON with a link to the file, which works for a limited time. Default: `bytes`.',
  },
  webhook_url: {
    type: 'string',
    format: 'uri',
    maxLength: 2_048,
    description:
      'Public `http` or `https` URL that gets a webhook when the render ends, signed with the secret of your account. Only with ' +
      '`async`, `prefer: respond-async` or `deliver=url`. Your email address must be confirmed.',
  },
} as const;

const { asset: ASSET, ...FIELDS_WITHOUT_ASSET } = FIELDS;

/** A request with an uploaded file, or without one. */
export const FORM_SCHEMA: Json = {
  type: 'object',
  description:
    'Fields of a form. Send either `text`, `overlays` or `captions`, and either `asset`, `asset_url`, or both `width` and `height`. ' +
    'Send `overlays` as one JSON array, or once per overlay with one JSON object each.',
  properties: { asset: ASSET, ...FIELDS_WITHOUT_ASSET },
  additionalProperties: false,
};

/** A request without an uploaded file. */
export const REQUEST_SCHEMA: Json = {
  type: 'object',
  description:
    'A request without an uploaded file. Send either `text`, `overlays` or `captions`, and either `asset_url` or both `width` ' +
    'and `height`.',
  properties: FIELDS_WITHOUT_ASSET,
  additionalProperties: false,
};

const JSON_FIELDS: Json = { overlays: { contentType: 'application/json' }, style: { contentType: 'application/json' } };

/** Every encoding of the body. The one that can hold all fields comes first, because some generators use only the first. */
export const REQUEST_CONTENT: Json = {
  'multipart/form-data': { schema: { $ref: '#/components/schemas/OverlayForm' }, encoding: JSON_FIELDS },
  'application/json': { schema: { $ref: '#/components/schemas/OverlayRequest' } },
  'application/x-www-form-urlencoded': {
    schema: { $ref: '#/components/schemas/OverlayRequest' },
    encoding: JSON_FIELDS,
  },
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
    start: {
      type: ['number', 'null'],
      minimum: 0,
      description: 'Seconds from the first frame of a video at which the bar appears. Default: 0. Ignored for images.',
    },
    end: {
      type: ['number', 'null'],
      exclusiveMinimum: 0,
      description:
        'Seconds from the first frame at which the bar disappears. Must be later than `start`. By default, the bar stays ' +
        'until the end.',
    },
    style: OVERLAY_STYLE,
  },
};

function side(label: 'Width' | 'Height') {
  return {
    type: 'integer',
    minimum: MIN_SIDE,
    maximum: MAX_SIDE,
    description:
      `${label} of the overlay in pixels, ${MIN_SIDE} to ${MAX_SIDE}. Width times height can be at most ` +
      `${megas(MAX_CANVAS_PIXELS)} megapixels. Required without an asset, ignored with one.`,
  } as const;
}
