// Fonts of an account in the OpenAPI document.

import { OWN_FONT_PATTERN } from '../../caption/fonts.ts';
import type { Json } from '../../primitives/json-schema.ts';
import { BODY_ERRORS, json, noContent, operation, type Paths } from './openapi-parts.ts';

const TAG = 'Brand';
const WRITING = 'Needs a live key without allowed origins, or a marketplace.';

const ID: Json = {
  name: 'id',
  in: 'path',
  required: true,
  description: 'The id of the font.',
  schema: { type: 'string', pattern: OWN_FONT_PATTERN },
};

const BODY: Json = {
  required: true,
  content: {
    'multipart/form-data': {
      schema: {
        type: 'object',
        required: ['asset', 'license_confirmed'],
        properties: {
          asset: { type: 'string', format: 'binary', description: 'TTF, OTF or WOFF2, up to 8 MB.' },
          license_confirmed: {
            type: 'boolean',
            const: true,
            description: 'Confirms that the license of the font allows you to use it here.',
          },
        },
        additionalProperties: false,
      },
    },
  },
};

export function fontPaths(): Paths {
  return {
    '/v1/fonts': {
      get: operation({
        id: 'listFonts',
        summary: 'List uploaded fonts',
        description: 'List the fonts that your account uploaded, oldest first.',
        tag: TAG,
        success: { '200': json('The fonts.', 'FontList') },
        errors: [],
        isPage: true,
      }),
      post: operation({
        id: 'uploadFont',
        summary: 'Upload a font',
        description: `Upload a font for use as \`style.font\`. It is written anew: outlines and layout stay, everything else goes. ${WRITING}`,
        tag: TAG,
        body: BODY,
        success: { '201': json('The font.', 'Font', ['location']) },
        errors: [
          ...BODY_ERRORS,
          'server_key_required',
          'brand_files_disabled',
          'too_many_fonts',
          'stored_bytes_exceeded',
          'storage_full',
          'asset_too_large',
          'unsupported_asset',
          'asset_undecodable',
          'too_many_failures',
          'overloaded',
          'renderer_unavailable',
          'out_of_memory',
          'deadline_exceeded',
        ],
      }),
    },
    '/v1/fonts/{id}': {
      get: operation({
        id: 'getFont',
        summary: 'Get an uploaded font',
        description: 'Get what there is to know about a font.',
        tag: TAG,
        parameters: [ID],
        success: { '200': json('The font.', 'Font') },
        errors: ['font_not_found', 'not_found'],
        isPage: true,
      }),
      delete: operation({
        id: 'deleteFont',
        summary: 'Delete an uploaded font',
        description: `Delete a font. Renders that were accepted keep it; later requests with its id fail. ${WRITING}`,
        tag: TAG,
        parameters: [ID],
        success: { '204': noContent('Deleted.') },
        errors: ['server_key_required', 'font_not_found', 'not_found', 'unsupported_content_type'],
      }),
    },
  };
}
