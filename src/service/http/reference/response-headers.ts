// The headers of responses. The API reference and the OpenAPI document are generated from these tables.

import { FORMAT_NAMES, OUTPUT_FORMATS } from '../../../engine/caption/output-format.ts';
import { orList } from '../../../shared/or-list.ts';
import { SOURCE_PIXELS } from '../../../engine/render/source-pixels.ts';
import { LAYOUT_WARNINGS, MEDIA_WARNINGS, SPEECH_WARNINGS } from '../../../engine/render/warnings.ts';

const { png: first } = OUTPUT_FORMATS;
const KINDS = FORMAT_NAMES.map((name) => OUTPUT_FORMATS[name]);
const others = KINDS.filter((kind) => kind !== first);
const codes = (warnings: readonly string[]): string => warnings.map((code) => `\`${code}\``).join(', ');

export interface HeaderKind {
  readonly description: string;
  readonly schema: { readonly type: 'string' | 'integer'; readonly format?: string; readonly enum?: readonly string[] };
}

/** Headers of a finished render. */
export const RESPONSE_HEADERS = {
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
    description: 'UUID of the render, on every response to `POST /v1/overlay` and on results.',
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
  'x-uncertain-words': {
    description:
      'Only with `captions=auto`: number of words that were left out, because they were probably not said. Absent when there are none.',
    schema: { type: 'integer' },
  },
  'x-quality': {
    description:
      'Only with `max_bytes`, unless the pixels of a JPEG are kept: the quality that fits, 1 to 100, or the constant rate factor of an ' +
      'MP4 (lower is better).',
    schema: { type: 'integer' },
  },
  'x-warnings': {
    description:
      `Comma-separated codes, absent when there are none. About captions: ${codes([...LAYOUT_WARNINGS, ...SPEECH_WARNINGS])}. ` +
      `About the asset: ${codes(MEDIA_WARNINGS)}. More may be added.`,
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
  'server-timing': {
    description:
      'Milliseconds per step. Images: receive, decode, layout, draw, blend, encode (layout and draw run while the image is ' +
      'decoded), or layout, draw, splice for a JPEG that is kept. Videos: receive, layout, draw, encode.',
    schema: { type: 'string' },
  },
} as const satisfies Readonly<Record<string, HeaderKind>>;

/** Headers of other responses, and those that aren't about a render. */
const OTHER_HEADERS = {
  'accept-ranges': { description: '`bytes`: parts of the file can be requested.', schema: { type: 'string' } },
  'access-control-allow-origin': {
    description: 'The web page that may read the response, if your key has allowed origins. `*` for results.',
    schema: { type: 'string' },
  },
  'access-control-expose-headers': { description: 'Headers that web pages may read.', schema: { type: 'string' } },
  'cache-control': { description: 'Whether the response may be cached.', schema: { type: 'string' } },
  'content-range': { description: 'Which bytes of the file these are, and its size.', schema: { type: 'string' } },
  'content-security-policy': { description: 'Only with `text/html`.', schema: { type: 'string' } },
  'cross-origin-opener-policy': { description: 'Only with `text/html`.', schema: { type: 'string' } },
  'cross-origin-resource-policy': {
    description: '`cross-origin`: pages of any site can embed the file.',
    schema: { type: 'string' },
  },
  etag: { description: 'The version of the file, for `if-none-match` and `if-range`.', schema: { type: 'string' } },
  location: { description: 'The path of the new resource.', schema: { type: 'string' } },
  'permissions-policy': { description: 'Only with `text/html`.', schema: { type: 'string' } },
  'preference-applied': { description: 'The part of `prefer` that was followed.', schema: { type: 'string' } },
  'referrer-policy': { description: 'What browsers tell other sites about the link.', schema: { type: 'string' } },
  'retry-after': {
    description: 'Seconds to wait before you try again, or ask for what was accepted.',
    schema: { type: 'integer' },
  },
  vary: { description: 'Request headers that the response depends on.', schema: { type: 'string' } },
  'www-authenticate': { description: 'How to send a key.', schema: { type: 'string' } },
  'x-content-type-options': { description: '`nosniff`.', schema: { type: 'string', enum: ['nosniff'] } },
  'x-request-id': {
    description: 'UUID of the request, under which the operator finds it in the logs.',
    schema: { type: 'string', format: 'uuid' },
  },
  'x-rapidapi-billing': {
    description: 'Only through the marketplace, whose name it has: what the marketplace charges.',
    schema: { type: 'string' },
  },
} as const satisfies Readonly<Record<string, HeaderKind>>;

/** OpenAPI describes the content type apart from the other headers. */
const { 'content-type': _type, ...RENDER_HEADERS } = RESPONSE_HEADERS;
export const HEADERS = { ...RENDER_HEADERS, ...OTHER_HEADERS } as const;
export type HeaderName = keyof typeof HEADERS;

/** Headers of every response. */
export const COMMON_HEADERS = ['content-length', 'x-request-id', 'x-content-type-options'] as const;
/** Headers of every response to a request with a key. */
export const KEY_HEADERS = [
  ...COMMON_HEADERS,
  'cache-control',
  'vary',
  'ratelimit-policy',
  'ratelimit',
  'access-control-allow-origin',
  'access-control-expose-headers',
  'x-rapidapi-billing',
] as const satisfies readonly HeaderName[];
/** Headers of a finished file. */
export const FILE_HEADERS = [
  ...(Object.keys(RENDER_HEADERS) as (keyof typeof RENDER_HEADERS)[]),
  ...KEY_HEADERS,
] as const satisfies readonly HeaderName[];
/** Headers of an error in a browser tab. */
export const PAGE_HEADERS = [
  'content-security-policy',
  'cross-origin-opener-policy',
  'permissions-policy',
  'referrer-policy',
] as const satisfies readonly HeaderName[];
