// The headers of a finished render, in words. The reference and the OpenAPI document are written from here.

export interface HeaderKind {
  readonly description: string;
  readonly schema: { readonly type: 'string' | 'integer'; readonly format?: string; readonly enum?: readonly string[] };
}

export const RESPONSE_HEADERS: Readonly<Record<string, HeaderKind>> = {
  'content-type': { description: '`image/png` or `video/mp4`.', schema: { type: 'string' } },
  'content-length': { description: 'Size in bytes.', schema: { type: 'integer' } },
  'content-disposition': {
    description: '`inline; filename="<render id>.png"` or `.mp4`.',
    schema: { type: 'string' },
  },
  'x-render-id': { description: 'UUID of the render; also on errors.', schema: { type: 'string', format: 'uuid' } },
  'x-source-type': {
    description: '`image` or `video`; `image` for bars alone.',
    schema: { type: 'string', enum: ['image', 'video'] },
  },
  'x-render-duration-ms': { description: 'How long the render took, in milliseconds.', schema: { type: 'integer' } },
  'x-missing-glyphs': {
    description: 'Only when characters have no font and show as a box: how many.',
    schema: { type: 'integer' },
  },
  'x-credits-charged': { description: 'What the render cost; 0 on errors.', schema: { type: 'integer' } },
  'x-credits-remaining': { description: 'What is left in this billing period.', schema: { type: 'integer' } },
  'ratelimit-policy': {
    description: 'Your plan, as in `"burst";q=60;w=60`: 60 requests in 60 seconds.',
    schema: { type: 'string' },
  },
  ratelimit: {
    description: 'What is left of it, as in `"burst";r=42;t=17`: 42 requests, all of them again in 17 seconds.',
    schema: { type: 'string' },
  },
  'idempotency-replayed': {
    description: 'Only when an `idempotency-key` was seen before: `true`, and nothing is charged.',
    schema: { type: 'string', enum: ['true'] },
  },
  'server-timing': { description: 'Milliseconds per step.', schema: { type: 'string' } },
};
