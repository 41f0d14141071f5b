// The fields of `POST /v1/overlay` in the OpenAPI document.

import { DEFAULT_PLANS } from '../../account/plans.ts';
import { OUTPUT_FORMATS } from '../../../engine/caption/output-format.ts';
import { OVERLAY_FIELDS } from '../../../engine/caption/overlay.ts';
import {
  CAPTION_FIELDS,
  DELIVERY_FIELDS,
  FILE_FIELDS,
  LOOK_FIELDS,
  RENDER_FIELDS,
} from '../../../engine/caption/request-fields.ts';
import { LOGO_FIELD } from '../../../engine/caption/logo.ts';
import { SAVED_STYLE_FIELDS } from '../../../engine/caption/saved-style.ts';
import { STYLE_FIELDS, STYLE_NAME } from '../../../engine/caption/style.ts';
import { ref } from '../../api/schema-parts.ts';
import type { Json } from '../../../shared/json-schema.ts';

const LIMITS = DEFAULT_PLANS.get('free').limits;
const megas = (value: number): string => String(value / 1_000_000);

/**
 * Binary content. Without a type, generators that know only JSON types accept a `Blob` here instead of insisting on a
 * string.
 */
const BINARY = { format: 'binary', contentMediaType: 'application/octet-stream' } as const;

/** A finished file, in any format. */
export const FILE_CONTENT = Object.fromEntries(
  Object.values(OUTPUT_FORMATS).map(({ mediaType }) => [mediaType, { schema: BINARY }]),
);

const ASSET = {
  ...BINARY,
  description:
    `Image (JPEG, PNG, WebP, HEIC, AVIF or GIF, up to ${megas(LIMITS.imageBytes)} MB and ${megas(LIMITS.imagePixels)} megapixels) or ` +
    `video (MP4, MOV, WebM or Matroska, up to ${megas(LIMITS.videoBytes)} MB, ${LIMITS.videoSeconds} seconds, ` +
    `${LIMITS.videoSide} pixels per side and ${LIMITS.videoFps} frames per second; faster videos lose frames). The format is detected from the ` +
    "file's bytes; its name and declared type are ignored. Leave it out to get only the overlay, transparent.",
} as const;

const { strict, ...captions } = CAPTION_FIELDS;

const FIELDS_WITHOUT_ASSET = {
  asset_url: RENDER_FIELDS.asset_url,
  ...captions,
  ...LOOK_FIELDS,
  strict,
  ...FILE_FIELDS,
  ...DELIVERY_FIELDS,
} as const;

/** Every field, in the order the reference lists them. */
export const FIELDS = { asset: ASSET, ...FIELDS_WITHOUT_ASSET } as const;

/** A request with an uploaded file, or without one. */
export const FORM_SCHEMA: Json = {
  type: 'object',
  description:
    'Fields of a form. Send either `text`, `overlays` or `captions`, and either `asset`, `asset_url`, or both `width` and `height`. ' +
    'Send `overlays` as one JSON array, or once per overlay with one JSON object each.',
  properties: FIELDS,
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

export const JSON_FIELDS: Json = {
  overlays: { contentType: 'application/json' },
  style: { contentType: 'application/json' },
  fit: { contentType: 'application/json' },
};

/** Every encoding of the body. The one that can hold all fields comes first, because some generators use only the first. */
export const REQUEST_CONTENT: Json = {
  'multipart/form-data': { schema: ref('OverlayForm'), encoding: JSON_FIELDS },
  'application/json': { schema: ref('OverlayRequest') },
  'application/x-www-form-urlencoded': {
    schema: ref('OverlayRequest'),
    encoding: JSON_FIELDS,
  },
};

const { text, ...optionalFields } = OVERLAY_FIELDS;

export const OVERLAY_SCHEMA: Json = {
  type: 'object',
  required: ['text'],
  properties: { text, ...nullable(optionalFields) },
};

export const STYLE_SCHEMA: Json = {
  type: 'object',
  description: 'Changes a preset or a saved style. Unknown keys are an error.',
  properties: nullable({
    ...STYLE_FIELDS,
    preset: { ...STYLE_NAME, description: `${STYLE_FIELDS.preset.description} Or a saved style.` },
    logo: LOGO_FIELD,
  }),
  additionalProperties: false,
};

export const LOGO_FORM: Json = {
  type: 'object',
  required: ['asset'],
  properties: { asset: { ...BINARY, description: 'PNG, WebP or JPEG, up to 2 MB and 4 megapixels.' } },
  additionalProperties: false,
};

export const SAVED_STYLE_SCHEMA: Json = {
  type: 'object',
  description:
    'The keys of `style`, and defaults for `position`, `safe_area`, `max_words` and `max_lines`. Unknown keys are an error.',
  properties: nullable(SAVED_STYLE_FIELDS),
  additionalProperties: false,
};

/** The same fields, which may also be null. */
function nullable(fields: Readonly<Record<string, Readonly<Record<string, Json>>>>): Record<string, Json> {
  return Object.fromEntries(
    Object.entries(fields).map(([name, { type, enum: values, oneOf, ...rest }]): [string, Json] => [
      name,
      {
        ...(type !== undefined && { type: [type, 'null'] }),
        ...(Array.isArray(values) && { enum: [...values, null] }),
        ...(Array.isArray(oneOf) && { oneOf: [...oneOf, { type: 'null' }] }),
        ...rest,
      },
    ]),
  );
}
