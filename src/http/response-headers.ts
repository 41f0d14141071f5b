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
  'server-timing': { description: 'Milliseconds per step.', schema: { type: 'string' } },
};
