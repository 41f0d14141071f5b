// The response headers of a finished render. The API reference and the OpenAPI document are generated from this table.

import { FORMAT_NAMES, OUTPUT_FORMATS } from '../../caption/output-format.ts';
import { orList } from '../../primitives/or-list.ts';
import { SOURCE_PIXELS } from '../../render/source-pixels.ts';

const { png: first } = OUTPUT_FORMATS;
const KINDS = FORMAT_NAMES.map((name) => OUTPUT_FORMATS[name]);
const others = KINDS.filter((kind) => kind !== first);

export interface HeaderKind {
  readonly description: string;
  readonly schema: { readonly type: 'string' | 'integer'; readonly format?: string; readonly enum?: readonly string[] };
}

export const RESPONSE_HEADERS: Readonly<Record<string, HeaderKind>> = {
  'content-type': {
    description: `${orList(KINDS.map(({ mediaType }) => `\`${mediaType}\``))}.`,
    schema: { type: 'string' },
  },
  'content-length': { description: 'Size in bytes.', schema: { type: 'integer' } },
  'content-disposition': {
    description: `\`inline; filename="<render id>.${first.extension}"\`, or ${orList(others.map(({ extension }) => `\`.${extension}\``))}.`,
    schema: { type: 'string' },
  },
  'x-render-id': {
    description: 'UUID of the render. Errors have one too.',
    schema: { type: 'string', format: 'uuid' },
  },
  'x-source-type': {
    description: '`image` or `video`. Overlay-only files are `image`.',
    schema: { type: 'string', enum: ['image', 'video'] },
  },
  'x-source-pixels': {
    description:
      'For JPEG output. `kept`: pixels outside the bars are those of the uploaded JPEG, without recompression. ' +
      '`reencoded`: the whole image was compressed again.',
    schema: { type: 'string', enum: SOURCE_PIXELS },
  },
  'x-render-duration-ms': { description: 'Render time in milliseconds.', schema: { type: 'integer' } },
  'x-missing-glyphs': {
    description: 'Number of unsupported characters, which appear as boxes. Absent when there are none.',
    schema: { type: 'integer' },
  },
  'x-warnings': {
    description:
      'Comma-separated codes, absent when there are none. About captions: `missing_glyphs`, `text_shrunk` (smaller than ' +
      'usual, to fit), `bars_overlap`, `never_shown`, `timing_ignored`, `safe_area_moved`, `low_contrast`, `no_bold`. About the ' +
      'asset: `audio_dropped`, `hdr_tonemapped`, `frames_dropped`. More may be added.',
    schema: { type: 'string' },
  },
  'x-credits-charged': {
    description: 'Credits charged for this render. 0 for errors, test keys and replays.',
    schema: { type: 'integer' },
  },
  'x-credits-remaining': { description: 'Credits left in this billing period.', schema: { type: 'integer' } },
  'ratelimit-policy': {
    description: 'Your rate limit. `"burst";q=60;w=60` means 60 requests per 60 seconds.',
    schema: { type: 'string' },
  },
  ratelimit: {
    description:
      'What is left of your rate limit. `"burst";r=42;t=17` means 42 requests now, and the full limit in 17 seconds.',
    schema: { type: 'string' },
  },
  'idempotency-replayed': {
    description:
      '`true` when the response repeats an earlier render with the same `idempotency-key`. Replays are free.',
    schema: { type: 'string', enum: ['true'] },
  },
  'server-timing': { description: 'Time per step in milliseconds.', schema: { type: 'string' } },
};
